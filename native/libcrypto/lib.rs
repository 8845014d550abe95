// SPDX-License-Identifier: MPL-2.0
// Empty: cargo wants a target in a package.
