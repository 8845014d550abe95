// SPDX-License-Identifier: MPL-2.0

/** The messages and gRPC services of `proto/*.proto`, under the names they have there. Generated code, no logic of ours. */
export * from './gen/keibidrop.ts';
/** Those of the daemon apart: its words are not the peers'. */
export * as local from './gen/local.ts';
export * from './gen/rendezvous.ts';
