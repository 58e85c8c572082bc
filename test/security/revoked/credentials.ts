/** Devices by what they show: a token, or a certificate of their own. */
import { readFile } from 'node:fs/promises'
import type { CertificateFiles } from '../../support/certificates.ts'
import type { Connected, Entity, Made, World } from './kinds.ts'

/** When the certificates expired that have. */
export const LONG_AGO = new Date('2022-01-01T00:00:00Z')

/** The device is there already, and its token is its name. `writesTo`: of the device that has what it sends. */
export function madeWithToken(
  device: string,
  deviceId: string,
  writesTo: string,
  open: (token: string) => Promise<Connected>,
): Made {
  return {
    ...{ deviceId, writesTo, others: { credentialsId: `${device}later` } },
    connect: () => open(device),
    strangers: { 'another token': () => open(`${device}x`) },
  }
}

export async function makeWithToken(
  { rest }: World,
  device: string,
  open: (token: string) => Promise<Connected>,
): Promise<Made> {
  return madeWithToken(device, await rest.createDevice(device, device), device, open)
}

export async function makeWithCertificate(
  { rest, authority }: World,
  device: string,
  open: (files: CertificateFiles) => Promise<Connected>,
): Promise<Made> {
  const [own, later, stranger, expired] = [
    await authority.issue([device]),
    await authority.issue([device]),
    await authority.issue([device]),
    await authority.issue([`${device} expired`], LONG_AGO),
  ]
  const save = async (name: string, { certFile }: CertificateFiles) =>
    rest.expect<Entity>('POST', '/api/device-with-credentials', {
      device: { name },
      credentials: { ...(await certificateOf(certFile)), credentialsId: '' },
    })
  const { id } = await save(device, own)
  await save(`${device} expired`, expired)
  return {
    ...{ deviceId: id.id, writesTo: device, others: await certificateOf(later.certFile) },
    connect: () => open(own),
    strangers: { 'another certificate': () => open(stranger), 'an expired certificate': () => open(expired) },
  }
}

/** Of a device whose certificate is in this PEM file. */
async function certificateOf(certFile: string) {
  return { credentialsType: 'X509_CERTIFICATE', credentialsValue: await readFile(certFile, 'utf8') }
}
