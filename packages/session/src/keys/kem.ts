// SPDX-License-Identifier: MPL-2.0
import { type MlKem1024, mlKem1024 } from '@keibidrop/native';

export type { MlKem1024 };

let loading: Promise<MlKem1024> | undefined;

/** Loads ML-KEM-1024: the addon's where it has one, else noble's, whose first use takes about 50 ms (decision 006). */
export function loadKem(): Promise<MlKem1024> {
  loading ??= Promise.resolve(mlKem1024() ?? loadNobleKem());
  return loading;
}

export async function loadNobleKem(): Promise<MlKem1024> {
  const { ml_kem1024 } = await import('@noble/post-quantum/ml-kem.js');
  return ml_kem1024;
}
