// SPDX-License-Identifier: MPL-2.0
import { withTilde } from '../../store/home-path.ts';
import { useHome } from '../../store/use-status.ts';
import { PeerText } from './peer-text.tsx';

/** A folder of this computer, with `~` for the home folder. */
export function PlaceText({ path }: { path: string }) {
  return <PeerText text={withTilde(path, useHome())} />;
}
