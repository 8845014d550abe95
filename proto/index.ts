// SPDX-License-Identifier: MPL-2.0

/** The messages and gRPC services of `proto/*.proto`, under the names they have there. Generated code, no logic of ours. */
export * from './gen/keibidrop.ts';
export * from './gen/rendezvous.ts';
