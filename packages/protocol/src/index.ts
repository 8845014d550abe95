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
export { assertCodeStrength, type Code, codeBits, codeLink, createCode, mailboxOf, parseCode } from './code.ts';
export { completeCode } from './code-completion.ts';
export {
  type ErrorCode,
  type ErrorDetail,
  exitCodeOf,
  fileNewer,
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
} from './manifest/manifest.ts';
export { ManifestGuard } from './manifest/manifest-guard.ts';
export { checkName, foldName, printable, STAGING_PREFIX } from './manifest/remote-path.ts';
export { checkSharePath } from './manifest/share-path.ts';
export type {
  ByteRange,
  CachedFile,
  FileVersion,
  ShareChange,
  ShareEntry,
  ShareListing,
  ShareNotice,
  WantedBlocks,
} from './manifest/shared-folder.ts';
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
} from './messages/contact-message.ts';
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
  type ResponderHello,
  X25519_BYTES,
} from './messages/handshake-message.ts';
export { Inbox } from './messages/inbox.ts';
export {
  decodeMeetingMessage,
  encodeMeetingMessage,
  type MeetingMessage,
  RETURN_NONCE_BYTES,
  type Refusal,
  SID_BYTES,
} from './messages/meeting-message.ts';
export type { Conversation, MessagePipe, Owner } from './messages/message-pipe.ts';
export { decodeRelayAnswer, encodeRelayHello, RELAY_TOKEN_BYTES, type RelayAnswer } from './messages/relay-message.ts';
export { ROTATION_PROOF_BYTES, type RotationMessage, type RotationRefusal } from './messages/rotation-message.ts';
export { isOtherVersion, otherVersion, PROTOCOL_VERSION } from './peer-version.ts';
export { ALL_SUITES, chooseSuite, type Suite, type SuiteOffer, suiteLabel } from './suite.ts';
