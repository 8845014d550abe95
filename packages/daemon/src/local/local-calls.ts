// SPDX-License-Identifier: MPL-2.0
import { local } from '@keibidrop/proto';

/** Raised when programs of one version no longer understand the daemon of another. */
export const LOCAL_API = 2;

/** The most frequent messages of clients. */
export type SendRequest = local.SendRequest;
export type ReceiveRequest = local.ReceiveRequest;
export type TransferView = local.Transfer;
export type ProgressView = local.Progress;
export type InvitationView = local.AskedInvitation;
export type ShareView = local.Share;
export type MountView = local.Mount;
export type ShareEntryView = local.ShareEntry;

type Service = typeof local.LocalService;

/** The name of a call, as in proto/local.proto except for its first letter. */
export type Method = keyof Service;
export type RequestOf<M extends Method> = Parameters<Service[M]['requestSerialize']>[0];
export type ReplyOf<M extends Method> = Parameters<Service[M]['responseSerialize']>[0];

/** Calls with one reply. */
export type Unary = { [M in Method]: Service[M]['responseStream'] extends true ? never : M }[Method];
/** Calls with any number of replies. */
export type Streaming = Exclude<Method, Unary>;

/** The client that calls. */
export interface Caller {
  /** Aborted when the client disconnects or no longer wants the reply. */
  readonly signal: AbortSignal;
}

type Handler<M extends Method> = M extends Unary
  ? (request: RequestOf<M>, caller: Caller) => ReplyOf<M> | Promise<ReplyOf<M>>
  : (request: RequestOf<M>, caller: Caller) => AsyncIterable<ReplyOf<M>>;

/**
 * The handlers of all calls, for gRPC and HTTP alike. Requests have the right shape but unchecked values. Handlers throw
 * KeibiErrors, which reach the client with code, message and detail.
 *
 * Groups of handlers live in their own files (`*-calls.ts`). Each is a function from its dependencies to `LocalGroup<its
 * names>`.
 */
export type LocalCalls = { readonly [M in Method]: Handler<M> };
export type LocalGroup<M extends Method> = Pick<LocalCalls, M>;

type Requests = { readonly [M in Method]: { fromJSON(json: unknown): RequestOf<M> } };

/** Converts JSON to a request; missing fields get their defaults. One line per call. */
const requests: Requests = {
  hello: local.HelloRequest,
  status: local.StatusRequest,
  watch: local.WatchRequest,
  stop: local.StopRequest,
  send: local.SendRequest,
  receive: local.ReceiveRequest,
  transfers: local.TransfersRequest,
  control: local.ControlRequest,
  files: local.FilesRequest,
  questions: local.QuestionsRequest,
  answer: local.AnswerRequest,
  addShare: local.AddShareRequest,
  connect: local.ConnectRequest,
  shares: local.SharesRequest,
  endShare: local.EndShareRequest,
  listShare: local.ListShareRequest,
  watchShare: local.WatchShareRequest,
  pull: local.PullRequest,
  mount: local.MountRequest,
  unmount: local.UnmountRequest,
  mounts: local.MountsRequest,
  history: local.HistoryRequest,
  clearHistory: local.ClearHistoryRequest,
  identity: local.IdentityRequest,
  unlock: local.UnlockRequest,
  reloadIdentity: local.ReloadIdentityRequest,
  nearby: local.NearbyRequest,
  contacts: local.ContactsRequest,
  addContact: local.AddContactRequest,
  changeContact: local.ChangeContactRequest,
  removeContact: local.RemoveContactRequest,
  settings: local.SettingsRequest,
  changeSettings: local.ChangeSettingsRequest,
  listFolders: local.ListFoldersRequest,
  freeSpace: local.FreeSpaceRequest,
  openPlace: local.OpenPlaceRequest,
  openPage: local.OpenPageRequest,
  measure: local.MeasureRequest,
};

export function isMethod(name: string): name is Method {
  return Object.hasOwn(requests, name);
}

export function isStreaming(method: Method): method is Streaming {
  return local.LocalService[method].responseStream;
}

/** @throws Error if a value has the wrong type */
export function requestOf<M extends Method>(method: M, json: unknown): RequestOf<M> {
  return requests[method].fromJSON(json);
}
