// SPDX-License-Identifier: MPL-2.0

// A meeting by code, the handshake that follows it, and the sealed control connection with gRPC in both directions.
// The package uses the connections and mailboxes of discovery as plain bytes and depends on neither.
// It transfers no files and stores nothing on disk.

export type { PeerHandlers } from './control/control-server.ts';
export { openGrpcChannel, openPingedGrpcChannel, type ServedService } from './control/grpc-duplex.ts';
export { http2StreamOf } from './control/grpc-internals.ts';
export { Introduction, introduce } from './control/introduction.ts';
export { askToPunch, punchResponder } from './control/punch-call.ts';
export { refusal, refusalOf, refuseCall } from './control/refusal.ts';
export { MAX_REKEYS, type OnRekey, RekeyResponder, rekey } from './control/rekey.ts';
export { type PreparedHandshake, prepareHandshake, warmUpHandshakes } from './handshake/ephemeral.ts';
export {
  type HandshakeOptions,
  handshakeAsInitiator,
  handshakeAsResponder,
  type InitiatorOptions,
  type ResponderOptions,
} from './handshake/handshake.ts';
export { type Keys, type Role, relayLaneTokens } from './handshake/key-schedule.ts';
export {
  drawIdentitySeed,
  fingerprintOfKeys,
  IDENTITY_SEED_BYTES,
  type IdentityKeys,
  identityFromSeed,
  type PublicKeys,
} from './keys/identity-keys.ts';
export { mailboxDays, PairKey } from './keys/pair-key.ts';
export { checkRotationProof, proveRotation, type RotationProofs, testRotation } from './keys/rotation.ts';
export { isNewerRecord, openRecord, RECORD_OVERHEAD_BYTES, sealRecord } from './keys/sealed-record.ts';
export {
  type LockKind,
  lockKindOf,
  openSecret,
  SEALED_OVERHEAD_BYTES,
  type SecretKey,
  sealSecret,
} from './keys/sealed-secret.ts';
export { CandidateExchange } from './meeting/candidate-exchange.ts';
export {
  type ContactMeetingOptions,
  type MetContact,
  meetContactAsGuest,
  meetContactAsOwner,
  type OwnerMeetingOptions,
} from './meeting/contact-meeting.ts';
export { type Meeting, meetAsGuest, meetAsOwner, refuseGuest, refuseVersion } from './meeting/meeting.ts';
export { meetAgainAsGuest, meetAgainAsOwner } from './meeting/return-meeting.ts';
export { GUEST_SECRET_BYTES, ReturnSecret } from './meeting/return-secret.ts';
export { SealedConversation } from './meeting/sealed-conversation.ts';
export { type HeartbeatTimes, openSession, type Session, type SessionOptions } from './session.ts';
