/**
 * Edge nodes of Sparkplug whose process died: nobody was left who could have said that they and their devices are offline. Source:
 * `device-api.md` 14.
 */
import type { Entry } from '../../../model/value.ts'
import type { Link } from '../../link/link.ts'
import { deviceOriginator, telemetryMessage } from '../device-messages.ts'
import type { DeviceIdentity } from '../gateway.ts'
import type { MessageIds } from '../message-ids.ts'
import { CONNECTION_STATE } from '../mqtt-profile.ts'

const OFFLINE: readonly Entry[] = [{ key: CONNECTION_STATE, type: 'STRING', value: 'OFFLINE' }]

export interface EdgeNodeDirectory {
  /** Those that came by this edge node at any time; undefined where the device is none. Rejects when the store does not answer. */
  findDevicesOfEdgeNode(device: DeviceIdentity): Promise<readonly DeviceIdentity[] | undefined>
}

export class LostEdgeNodes {
  private readonly directory: EdgeNodeDirectory
  private readonly link: Pick<Link, 'publish'>
  private readonly ids: MessageIds

  constructor(directory: EdgeNodeDirectory, link: Pick<Link, 'publish'>, ids: MessageIds) {
    this.directory = directory
    this.link = link
    this.ids = ids
  }

  /**
   * Resolves when all of it is durable; does nothing for other devices. `heardAt`: when the node was heard last, Unix ms, so that what is
   * said in its name is no activity. `begins`, asked once it is known to be an edge node, is false where it is back by then. Rejects when
   * the store does not answer, or the link has no room: to be called again.
   */
  async tell(device: DeviceIdentity, heardAt: number, begins: () => boolean): Promise<void> {
    const devices = await this.directory.findDevicesOfEdgeNode(device)
    if (devices === undefined || !begins()) return
    // One that is offline already is told so once more, which is true: what it was last may still be in the queue.
    await Promise.all([...devices, device].map((each) => this.publish(each, heardAt)))
  }

  private publish(device: DeviceIdentity, at: number): Promise<void> {
    const message = telemetryMessage(this.ids, device, deviceOriginator(device), at, undefined, OFFLINE, undefined)
    return new Promise((resolve, reject) => this.link.publish(message, { stored: resolve, refused: reject }))
  }
}
