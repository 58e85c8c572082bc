/** What a chain may say of a device's connection. */
export type DeviceStateEvent = 'connect' | 'disconnect' | 'activity' | 'inactivity'

export interface NodeDeviceState {
  /** As if the device had done so at that time, Unix ms. */
  report(deviceId: string, event: DeviceStateEvent, ts: number): Promise<void>
}
