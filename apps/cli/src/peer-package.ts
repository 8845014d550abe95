// SPDX-License-Identifier: MPL-2.0

/** What the commands use of `packages/peer`: handed in, so that it is loaded only when a command runs and can be replaced in tests. */
export type PeerPackage = Pick<
  typeof import('@keibidrop/peer'),
  | 'PauseSwitch'
  | 'findDaemon'
  | 'openDaemon'
  | 'stopDaemon'
  | 'History'
  | 'offeredBy'
  | 'placeOf'
  | 'recording'
  | 'stateDirOf'
  | 'eventJson'
  | 'freeBytes'
  | 'send'
  | 'sendVisiting'
  | 'receive'
  | 'benchAlone'
  | 'benchAgainst'
  | 'waitForBench'
  | 'configDirOf'
  | 'ContactStore'
  | 'IdentityStore'
  | 'parseContactName'
  | 'loadSettings'
  | 'loadRelaySettings'
  | 'diagnose'
  | 'waitingSenders'
  | 'openRelayServer'
  | 'share'
  | 'shareEventJson'
>;
