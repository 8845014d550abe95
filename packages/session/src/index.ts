// SPDX-License-Identifier: MPL-2.0

// A meeting by code, the handshake that follows it, and the sealed control connection with gRPC in both directions.
// The package uses the connections and mailboxes of discovery as plain bytes and depends on neither.
// It transfers no files and stores nothing on disk.

export { CandidateExchange } from './candidate-exchange.ts';
export { ContactConversation } from './contact-conversation.ts';
export {
  type ContactMeetingOptions,
  type MetContact,
  meetContactAsGuest,
  meetContactAsOwner,
  type OwnerMeetingOptions,
} from './contact-meeting.ts';
export type { PeerHandlers } from './control-server.ts';
export { type PreparedHandshake, prepareHandshake, warmUpHandshakes } from './ephemeral.ts';
export { FoldResponder, fold, MAX_FOLDS, type OnFold } from './fold.ts';
export { openGrpcChannel, openPingedGrpcChannel, type ServedService } from './grpc-duplex.ts';
export {
  type HandshakeOptions,
  handshakeAsInitiator,
  handshakeAsResponder,
  type InitiatorOptions,
  type ResponderOptions,
} from './handshake.ts';
export {
  drawIdentitySeed,
  fingerprintOfKeys,
  IDENTITY_SEED_BYTES,
  type IdentityKeys,
  identityFromSeed,
  type PublicKeys,
} from './identity-keys.ts';
export { Introduction, introduce } from './introduction.ts';
export { type Keys, type Role, relayLaneTokens } from './key-schedule.ts';
export { type Meeting, meetAsGuest, meetAsOwner, refuseGuest } from './meeting.ts';
export { mailboxDays, PairKey } from './pair-key.ts';
export { askToPunch, punchResponder } from './punch-call.ts';
export { refusal, refusalOf, refuseCall } from './refusal.ts';
export { meetAgainAsGuest, meetAgainAsOwner } from './return-meeting.ts';
export { GUEST_SECRET_BYTES, ReturnSecret } from './return-secret.ts';
export { checkRotationProof, proveRotation, type RotationProofs, testRotation } from './rotation.ts';
export { openRecord, RECORD_OVERHEAD_BYTES, sealRecord } from './sealed-record.ts';
export {
  type LockKind,
  lockKindOf,
  openSecret,
  SEALED_OVERHEAD_BYTES,
  type SecretKey,
  sealSecret,
} from './sealed-secret.ts';
export { type HeartbeatTimes, openSession, type Session, type SessionOptions } from './session.ts';
