// SPDX-License-Identifier: MPL-2.0

// What a face that talks to the daemon from outside Node needs to know of it: the shapes of its calls (proto/local.proto), as they are in JSON.
// Types, and what is pure: nothing of the peer comes along.
import type { local } from '@keibidrop/proto';

export { completeCode, parseCode, parseFingerprint } from '@keibidrop/protocol';
export type { Method, ReplyOf, RequestOf, Streaming, Unary } from './daemon/local-calls.ts';
export type ContactView = local.Contact;
export type FileView = local.File;
export type HistoryEntryView = local.HistoryEntry;
export type MountView = local.Mount;
export type NearbySenderView = local.NearbySender;
export type QuestionView = local.Question;
export type SettingView = local.Setting;
export type ShareView = local.Share;
export type TransferPeerView = local.TransferPeer;
export type TransferView = local.Transfer;
export type WayView = local.Way;
