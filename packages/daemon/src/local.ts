// SPDX-License-Identifier: MPL-2.0

// The types of the daemon's calls (proto/local.proto), as JSON, for front ends outside Node. Only types and pure functions:
// nothing of the peer is loaded.
import type { local } from '@keibidrop/proto';

export { codeLink, completeCode, parseCode, parseFingerprint } from '@keibidrop/protocol';
export type { Method, ReplyOf, RequestOf, Streaming, Unary } from './local/local-calls.ts';
export type ContactView = local.Contact;
export type EventView = local.Event;
export type FileView = local.File;
export type HistoryEntryView = local.HistoryEntry;
export type MountView = local.Mount;
export type NearbySenderView = local.NearbySender;
export type ProgressView = local.Progress;
export type QuestionView = local.Question;
export type SettingView = local.Setting;
export type ShareView = local.Share;
export type TransferPeerView = local.TransferPeer;
export type TransferView = local.Transfer;
export type WayView = local.Way;
