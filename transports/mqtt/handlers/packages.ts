/** Firmware and software in parts: the payload of a request is the size of a part as decimal text. Source: `device-api.md` 3.4, 10. */
import type { DeviceSession, PackageRequest, PublishReceipt } from '../../../engine/device/gateway.ts'
import type { MqttConnection } from '../connection.ts'
import { PackageDownloads, type PackageTaker } from '../package-downloads.ts'
import { Reason } from '../reason-codes.ts'
import { FILTERS, PACKAGE_FILTERS, type PackageTopic } from '../topics.ts'
import { grantedQos, push } from './push.ts'

const SIZE = /^\d{1,10}$/
const PREFIXES: Readonly<Record<PackageRequest['kind'], string>> = { FIRMWARE: 'v2/fw', SOFTWARE: 'v2/sw' }

/** False for a size that is no number. Acknowledged once the part was read; what fails is told on the error topic, and the connection ends. */
export function requestPackage(
  session: MqttConnection,
  device: DeviceSession,
  topic: PackageTopic,
  payload: Buffer,
  receipt: PublishReceipt,
): boolean {
  const text = payload.toString('latin1')
  if (text !== '' && !SIZE.test(text)) return false
  device.touch()
  const { gateway, limits } = session.host
  session.downloads ??= new PackageDownloads(gateway, takerOf(session), {
    maxPartBytes: limits.maxPacketBytes,
    maxWholeBytes: limits.maxWholePackageBytes,
    maxWaiting: limits.maxQueuedPushes,
  })
  const size = text === '' ? undefined : Number(text)
  const isTaken = session.downloads.ask({ topic, device: device.device, size, receipt })
  if (!isTaken) session.close(Reason.QUOTA_EXCEEDED)
  return true
}

function takerOf(session: MqttConnection): PackageTaker {
  return {
    get isOpen() {
      return session.phase === 'CONNECTED'
    },
    send({ topic: { package: kind, requestId, chunk }, receipt }, bytes, written) {
      receipt.stored()
      const topic = `${PREFIXES[kind]}/response/${requestId}/chunk/${chunk}`
      push(session, topic, bytes, grantedQos(session, PACKAGE_FILTERS[kind].response), undefined, written)
    },
    failed({ topic: { package: kind } }, failure) {
      const filter = PACKAGE_FILTERS[kind].error
      push(session, FILTERS[filter] ?? '', failure, grantedQos(session, filter))
      session.host.counts.refused++
      session.close(Reason.IMPLEMENTATION_SPECIFIC)
    },
  }
}
