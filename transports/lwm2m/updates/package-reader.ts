/** A package as a body that is read as it is sent: no more of it than a block is held. */
import type { DeviceGateway, DeviceIdentity } from '../../../engine/device/gateway.ts'
import type { ReadBody } from '../../coap-messages/requests.ts'
import type { NamedPackage } from './offered-packages.ts'

export function packageReader(
  gateway: Pick<DeviceGateway, 'downloadPackage'>,
  device: DeviceIdentity,
  named: NamedPackage,
): ReadBody {
  return async (at, size) => {
    const { bytes, wholeBytes, release } = await gateway.downloadPackage(device, { ...named, size, chunk: at / size })
    const own = Buffer.from(bytes)
    release()
    return { bytes: own, isMore: at + own.length < wholeBytes }
  }
}
