// SPDX-License-Identifier: MPL-2.0

// The common protocol: limits, errors, codes, suites, and the codecs of all messages except frames and gRPC. Pure values for any
// JavaScript runtime: no I/O, no clock, no Node modules. Key derivation and sealing are in the session package.

export {
  callFailure,
  callFailureIn,
  failureDetails,
  isSystemErrorName,
  type SystemErrorName,
  systemErrorIn,
} from './call-failure.ts';
export { type Candidate, decodeCandidates, encodeCandidates, MAX_CANDIDATES } from './candidate.ts';
export { assertCodeStrength, type Code, codeBits, createCode, mailboxOf, parseCode } from './code.ts';
export { completeCode } from './code-completion.ts';
export {
  CONTACT_NONCE_BYTES,
  type ContactMessage,
  type ContactOpening,
  decodeContactMessage,
  decodeContactOpening,
  encodeContactMessage,
  encodeContactOpening,
  type Farewell,
  INVITATION_ID_BYTES,
  type Invitation,
  type InvitedTo,
  type OpeningKind,
  type Verdict,
} from './contact-message.ts';
export {
  type ErrorCode,
  type ErrorDetail,
  exitCodeOf,
  grpcStatusOf,
  isErrorCode,
  isWireCode,
  KeibiError,
  messageFor,
  peerCodeOf,
  peerError,
  peerMessageFor,
  type Retry,
  retryOf,
} from './errors.ts';
export { errorOfFailures } from './failures.ts';
export {
  FINGERPRINT_BYTES,
  fingerprintLink,
  fingerprintPhrase,
  formatFingerprint,
  isSameFingerprint,
  parseFingerprint,
} from './fingerprint.ts';
export {
  type Alert,
  ATTEMPT_BYTES,
  CONFIRM_BYTES,
  CONTROL_PREAMBLE,
  decodeHandshakeMessage,
  encodeHandshakeMessage,
  HANDSHAKE_HEAD_BYTES,
  type HandshakeMessage,
  handshakeBodyBytes,
  type InitiatorConfirm,
  type InitiatorHello,
  KEM_CIPHERTEXT_BYTES,
  KEM_KEY_BYTES,
  PROTOCOL_VERSION,
  type ResponderHello,
  X25519_BYTES,
} from './handshake-message.ts';
export { Inbox } from './inbox.ts';
export * from './limits.ts';
export {
  decodePage,
  type Entry,
  type EntryType,
  encodePage,
  entryStarts,
  PageWriter,
  scanNames,
  scanPage,
  TOP,
} from './manifest.ts';
export { ManifestGuard } from './manifest-guard.ts';
export {
  decodeMeetingMessage,
  encodeMeetingMessage,
  type MeetingMessage,
  RETURN_NONCE_BYTES,
  type Refusal,
  SID_BYTES,
} from './meeting-message.ts';
export type { Conversation, MessagePipe, Owner } from './message-pipe.ts';
export { decodeRelayAnswer, encodeRelayHello, RELAY_TOKEN_BYTES, type RelayAnswer } from './relay-message.ts';
export { checkName, foldName, printable, STAGING_PREFIX } from './remote-path.ts';
export { ROTATION_PROOF_BYTES, type RotationMessage, type RotationRefusal } from './rotation-message.ts';
export { checkSharePath } from './share-path.ts';
export { ALL_SUITES, chooseSuite, type Suite, type SuiteOffer, suiteLabel } from './suite.ts';
