// SPDX-License-Identifier: MPL-2.0

export { ContactStore, IdentityStore, parseContactName, sendToContacts, systemKeychain } from '@keibidrop/contacts';
export {
  findDaemon,
  freeBytes,
  History,
  offeredBy,
  openByDesktop,
  openDaemon,
  placeOf,
  pullHistory,
  recording,
  stopDaemon,
} from '@keibidrop/daemon';
// The functions of the packages that commands use. Loaded as one part, when a command runs.
export {
  benchAgainst,
  benchAlone,
  diagnose,
  eventJson,
  PauseSwitch,
  planSend,
  receive,
  send,
  waitForBench,
  waitingSenders,
} from '@keibidrop/peer';
export { openRelayServer } from '@keibidrop/server';
export { configDirOf, journalsOf, knownIn, loadRelaySettings, loadSettings, stateDirOf } from '@keibidrop/settings';
export { share, shareEventJson, shareWithContacts } from '@keibidrop/share';
