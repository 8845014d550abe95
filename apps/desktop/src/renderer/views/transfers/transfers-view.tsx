// SPDX-License-Identifier: MPL-2.0
import { useRoute } from '../../store/route.ts';
import { TransferList } from './transfer-list.tsx';
import { TransferPage } from './transfer-page.tsx';

/** All transfers, or the one named in the address. */
export function TransfersView() {
  const item = useRoute((route) => route.item);
  const id = Number(item);
  return item !== undefined && Number.isInteger(id) && id > 0 ? <TransferPage key={id} id={id} /> : <TransferList />;
}
