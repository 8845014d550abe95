// SPDX-License-Identifier: MPL-2.0

// The part of @silentbot1/nat-api that packages/discovery uses; the library has no types.
declare module '@silentbot1/nat-api/lib/upnp/ssdp.js' {
  export interface UpnpDevice {
    readonly url: string;
    /** Returns the body of the answer. @throws the device's refusal */
    run(action: string, fields: [string, string | number][]): Promise<Record<string, Record<string, unknown>>>;
  }
  // biome-ignore lint/style/noDefaultExport: the library's own
  export default class Ssdp {
    /** `address` is ours, on the network where the device answered. */
    search(device: string, timeoutMs: number): Promise<{ device: UpnpDevice; address: string } | undefined>;
    destroy(): Promise<unknown>;
  }
}
