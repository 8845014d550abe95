// SPDX-License-Identifier: MPL-2.0
import { local } from '@keibidrop/proto';

/** Rises when programs of one version no longer understand the daemon of another. */
export const LOCAL_API = 1;

/** What clients say and hear most. */
export type SendRequest = local.SendRequest;
export type ReceiveRequest = local.ReceiveRequest;
export type TransferView = local.Transfer;
export type ShareView = local.Share;
export type MountView = local.Mount;
export type ShareEntryView = local.ShareEntry;

type Service = typeof local.LocalService;

/** The name of a call, as in proto/local.proto but for its first letter. */
export type Method = keyof Service;
export type RequestOf<M extends Method> = Parameters<Service[M]['requestSerialize']>[0];
export type ReplyOf<M extends Method> = Parameters<Service[M]['responseSerialize']>[0];

/** Calls with one reply. */
export type Unary = { [M in Method]: Service[M]['responseStream'] extends true ? never : M }[Method];
/** Calls with any number of them. */
export type Streaming = Exclude<Method, Unary>;

/** Who calls. */
export interface Caller {
  /** Aborted when the client has gone away or no longer wants the reply. */
  readonly signal: AbortSignal;
}

type Handler<M extends Method> = M extends Unary
  ? (request: RequestOf<M>, caller: Caller) => ReplyOf<M> | Promise<ReplyOf<M>>
  : (request: RequestOf<M>, caller: Caller) => AsyncIterable<ReplyOf<M>>;

/**
 * What answers each call, whichever door it came through. They get requests of the right shape, whose values nobody has checked,
 * and throw KeibiErrors, which reach the client with code, message and detail.
 *
 * Groups of them stand in files of their own (`*-calls.ts`), each a function from what it needs to `LocalGroup<its names>`.
 */
export type LocalCalls = { readonly [M in Method]: Handler<M> };
export type LocalGroup<M extends Method> = Pick<LocalCalls, M>;

type Requests = { readonly [M in Method]: { fromJSON(json: unknown): RequestOf<M> } };

/** Makes a request of JSON; what is not there gets its default. One line a call. */
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

/** @throws Error if a value cannot be what it is to be */
export function requestOf<M extends Method>(method: M, json: unknown): RequestOf<M> {
  return requests[method].fromJSON(json);
}
