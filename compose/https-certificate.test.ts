import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { httpsCertificate } from './https-certificate.ts'
import { readConfig } from '../config/read.ts'
import { TestClock } from '../services/testkit.ts'
import { createAuthority } from '../test/support/certificates.ts'
import { CertificateWatch, certificateFiles, type TlsFiles } from '../server/certificate.ts'

const ON = { SSL_ENABLED: 'true' }
const files = (environment: Readonly<Record<string, string>>) => {
  const settings = httpsCertificate(readConfig(environment))
  return settings && certificateFiles(settings)
}

test('HTTPS is off until it is turned on, and then needs files', () => {
  assert.equal(files({}), undefined)
  assert.equal(files({ SSL_PEM_CERT: '/nowhere' }), undefined)
  assert.throws(() => files(ON), { message: /SSL_PEM_CERT/ })
  assert.throws(() => readConfig({ ...ON, SSL_CREDENTIALS_TYPE: 'KEYSTORE' }), /SSL_CREDENTIALS_TYPE.*PEM/)
})

test('a file that is no good is told in one sentence, with its setting and the reason', async (context) => {
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['a.example'])
  const other = await authority.issue(['b.example'])
  const good = { ...ON, SSL_PEM_CERT: certFile, SSL_PEM_KEY: keyFile }
  const { fingerprint, ...read } = files(good) ?? {}
  assert.deepEqual(read, { certFile, keyFile, keyPassword: undefined })
  assert.match(fingerprint ?? '', /^[0-9a-f]{64}$/)
  const missing = join(authority.folder, 'missing.pem')
  for (const [change, sentence] of [
    [{ SSL_PEM_CERT: missing }, /^SSL_PEM_CERT=.*missing\.pem can not be used: ENOENT[^\n]*$/],
    [{ SSL_PEM_KEY: missing }, /^SSL_PEM_KEY=.*missing\.pem can not be used: ENOENT[^\n]*$/],
    [{ SSL_PEM_CERT: keyFile }, /^SSL_PEM_CERT=.*can not be used/],
    [{ SSL_PEM_KEY: other.keyFile }, /^SSL_PEM_KEY=.*can not be used: .*mismatch/],
  ] as const)
    assert.throws(() => files({ ...good, ...change }), { code: 'certificate.FILE_UNUSABLE', message: sentence })
})

test('the key may be in the file of the certificate, and have a password', async (context) => {
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['a.example'])
  await appendFile(certFile, await readFile(keyFile))
  assert.equal(files({ ...ON, SSL_PEM_CERT: certFile })?.keyFile, certFile)
  const locked = createPrivateKey(await readFile(keyFile)).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'open sesame',
  })
  await writeFile(keyFile, locked)
  const settings = { ...ON, SSL_PEM_CERT: certFile, SSL_PEM_KEY: keyFile }
  assert.throws(() => files(settings), { code: 'certificate.FILE_UNUSABLE' })
  assert.throws(
    () => files({ ...settings, SSL_PEM_KEY_PASSWORD: 'wrong password' }),
    (error: Error) => error.message.startsWith('SSL_PEM_KEY=') && !error.message.includes('wrong password'),
  )
  assert.equal(files({ ...settings, SSL_PEM_KEY_PASSWORD: 'open sesame' })?.keyPassword, 'open sesame')
})

async function watched(context: TestContext) {
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['a.example'])
  const settings = httpsCertificate(readConfig({ ...ON, SSL_PEM_CERT: certFile, SSL_PEM_KEY: keyFile }))
  assert.ok(settings !== undefined)
  const clock = new TestClock()
  const replaced: TlsFiles[] = []
  const told: string[] = []
  const files = certificateFiles(settings)
  const watch = new CertificateWatch({
    label: 'HTTPS',
    settings,
    files,
    replace: (tls) => void replaced.push(tls),
    clock,
    log: { info: (text) => told.push(text), error: (text) => told.push(text) },
  })
  return { authority, certFile, keyFile, files, settings, clock, replaced, told, watch }
}

test('a changed pair is handed over once; a half changed one waits and is told once', async (context) => {
  const { authority, certFile, keyFile, files, clock, replaced, told, watch } = await watched(context)
  clock.runTimers()
  assert.equal(replaced.length, 0)
  const next = await authority.issue(['b.example'])
  await copyFile(next.certFile, certFile)
  clock.runTimers()
  clock.runTimers()
  assert.equal(replaced.length, 0)
  assert.equal(told.length, 1)
  await copyFile(next.keyFile, keyFile)
  clock.runTimers()
  clock.runTimers()
  assert.deepEqual(replaced, [files])
  assert.equal(told.length, 2)
  await rm(certFile)
  clock.runTimers()
  assert.equal(replaced.length, 1)
  watch.close()
  await copyFile((await authority.issue(['c.example'])).certFile, certFile)
  clock.runTimers()
  assert.equal(told.length, 3)
})

test('what changes between the check and the watch is a change; what is wrong again is told again', async (context) => {
  const { authority, certFile, keyFile, files, settings, clock, told, watch } = await watched(context)
  watch.close()
  const [old, next] = [await readFile(certFile), await authority.issue(['b.example'])]
  await copyFile(next.certFile, certFile)
  await copyFile(next.keyFile, keyFile)
  const replaced: TlsFiles[] = []
  const log = { info: (text: string) => told.push(text), error: (text: string) => told.push(text) }
  const late = new CertificateWatch({
    label: 'late',
    settings,
    files,
    replace: (tls) => replaced.push(tls),
    clock,
    log,
  })
  clock.runTimers()
  assert.equal(replaced.length, 1)
  for (let time = 1; time <= 2; time++) {
    await writeFile(certFile, old)
    late.look()
    assert.equal(told.length, 1 + time)
    await copyFile(next.certFile, certFile)
    late.look()
  }
  late.close()
})
