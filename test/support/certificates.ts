/**
 * A certificate authority of a test's own, made by Node alone: X.509 in DER (RFC 5280) with keys on P-256. Nothing here is fit for anything
 * but a test: the serial numbers are chance, and nothing can be revoked.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface Authority {
  /** A temporary one, for whatever else the test keeps in files. */
  readonly folder: string
  /** The PEM file by which its certificates are known. */
  readonly caFile: string
  /** A certificate for a server under these names and IPv4 addresses, or for a client of the first name. */
  issue(hosts: readonly string[], notAfter?: Date, notBefore?: Date): Promise<CertificateFiles>
  /** One that this one vouches for; `'pretended'`: its certificate does not say that it may issue any. */
  subordinate(kind?: 'pretended'): Promise<Authority>
}

/** Its folder is removed with the test. */
export async function createAuthority(context: Pick<TestContext, 'after'>): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-authority-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return newAuthority(folder, undefined, IS_AUTHORITY)
}

interface Issuer {
  readonly name: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

async function newAuthority(
  folder: string,
  superior: Issuer | undefined,
  extensions: readonly Buffer[],
): Promise<Authority> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = `Authority of a test ${randomBytes(4).toString('hex')}`
  const own: Issuer = { name, ...pair }
  const path = join(folder, `authority-${randomBytes(4).toString('hex')}`)
  const caFile = `${path}.pem`
  const content = { subject: name, publicKey: own.publicKey, extensions, notBefore: BEFORE, notAfter: FAR }
  await writeFile(caFile, certificate(content, superior ?? own))
  let issued = 0
  return {
    folder,
    caFile,
    subordinate: (kind) => newAuthority(folder, own, kind === 'pretended' ? [] : IS_AUTHORITY),
    issue: async (hosts, notAfter = FAR, notBefore = BEFORE) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const names = hosts.map((host) =>
        isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
      )
      const extensions = [
        extension(ALTERNATIVE_NAMES, sequence(...names)),
        extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTHENTICATION), oid(CLIENT_AUTHENTICATION))),
      ]
      const subject = hosts[0] ?? ''
      const base = `${path}-issued-${++issued}`
      const files = { certFile: `${base}.pem`, keyFile: `${base}.key` }
      await writeFile(files.certFile, certificate({ subject, publicKey, extensions, notBefore, notAfter }, own))
      await writeFile(files.keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
      return files
    },
  }
}

interface Content {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
  readonly notBefore: Date
  readonly notAfter: Date
}

const FAR = new Date('2049-01-01T00:00:00Z')
const BEFORE = new Date('2020-01-01T00:00:00Z')

const COMMON_NAME = [0x55, 4, 3]
const BASIC_CONSTRAINTS = [0x55, 29, 19]
const KEY_USAGE = [0x55, 29, 15]
const ALTERNATIVE_NAMES = [0x55, 29, 17]
const EXTENDED_KEY_USAGE = [0x55, 29, 37]
const KEY_IDENTIFIER = [0x55, 29, 14]
const ISSUER_KEY_IDENTIFIER = [0x55, 29, 35]
const SERVER_AUTHENTICATION = [0x2b, 6, 1, 5, 5, 7, 3, 1]
const CLIENT_AUTHENTICATION = [0x2b, 6, 1, 5, 5, 7, 3, 2]
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]

/** RFC 5280, 4.1. */
function certificate(content: Content, issuer: Issuer): string {
  const algorithm = sequence(oid(ECDSA_WITH_SHA256))
  const extensions = [
    ...content.extensions,
    extension(KEY_IDENTIFIER, der(0x04, identifierOf(content.publicKey))),
    extension(ISSUER_KEY_IDENTIFIER, sequence(der(0x80, identifierOf(issuer.publicKey)))),
  ]
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(content.notBefore), time(content.notAfter)),
    distinguishedName(content.subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signed = sequence(body, algorithm, bitString(sign('sha256', body, issuer.privateKey)))
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function identifierOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(commonName)))))
}

function extension(name: readonly number[], value: Buffer, isCritical = false): Buffer {
  return sequence(oid(name), ...(isCritical ? [TRUE] : []), der(0x04, value))
}

/** UTCTime, as RFC 5280 wants it until 2049. */
function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
}

function oid(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes))
}

function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return der(0x03, Buffer.concat([Buffer.of(unusedBits), bytes]))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

/** X.690, 8.1.3: a length of up to 127 in one byte, a longer one behind the count of its bytes. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

const TRUE = der(0x01, Buffer.of(0xff))

const IS_AUTHORITY = [
  extension(BASIC_CONSTRAINTS, sequence(TRUE), true),
  extension(KEY_USAGE, bitString(Buffer.of(0x06), 1), true),
]
