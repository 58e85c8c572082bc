/**
 * The certificate of HTTPS: checked before the server has it, since the library does not say what is wrong with one, and read again when its
 * files change. They are looked at by their content: what replaces them (a link, a rename, a copy) makes no difference.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigErrors } from '../config/define.ts'
import { SETTINGS, type Config } from '../config/settings.ts'
import type { Clock, TimerHandle } from '../model/clock.ts'
import { errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import type { TlsFiles, UwsServer } from '../server/uws.ts'

const LOOK_MS = 2_000

type SslConfig = Pick<Config, 'sslEnabled' | 'sslCertFile' | 'sslKeyFile' | 'sslKeyPassword'>

/** Undefined where HTTPS is off. Throws `config.CONTRADICTION`, `config.FILE_UNUSABLE`: one sentence that names setting, file and reason. */
export function certificateFiles(config: SslConfig): TlsFiles | undefined {
  if (!config.sslEnabled) return undefined
  const { sslCertFile: certFile, sslKeyFile: keyFile = certFile, sslKeyPassword: keyPassword } = config
  if (certFile === undefined || keyFile === undefined)
    throw ConfigErrors.CONTRADICTION({ reason: 'SSL_ENABLED=true needs a certificate: name its file in SSL_PEM_CERT' })
  const cert = checked('sslCertFile', certFile, () => {
    const text = readFileSync(certFile)
    createSecureContext({ cert: text })
    return text
  })
  checked(config.sslKeyFile === undefined ? 'sslCertFile' : 'sslKeyFile', keyFile, () =>
    createSecureContext({ cert, key: readFileSync(keyFile), ...passphraseOf(keyPassword) }),
  )
  return { certFile, keyFile, keyPassword }
}

export interface CertificateWatchParts {
  readonly config: SslConfig
  readonly files: TlsFiles
  readonly server: Pick<UwsServer, 'replaceCertificate'>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Hands the server a changed certificate; one that is no good is told once, and looked at again. */
export class CertificateWatch {
  private readonly parts: CertificateWatchParts
  private seen: string
  private told: string | undefined
  private timer: TimerHandle | undefined

  constructor(parts: CertificateWatchParts) {
    this.parts = parts
    this.seen = fingerprintOf(parts.files)
    this.lookLater()
  }

  look(): void {
    const { config, files, server, log } = this.parts
    try {
      const now = fingerprintOf(files)
      if (now === this.seen) return
      // Two files are replaced one after the other: until the second one is there they do not fit.
      certificateFiles(config)
      server.replaceCertificate(files)
      this.seen = now
      this.told = undefined
      log.info('HTTPS has a new certificate', { file: files.certFile })
    } catch (error) {
      const reason = errorText(error)
      if (reason !== this.told) log.error('HTTPS keeps its old certificate: the new one can not be used', { reason })
      this.told = reason
    }
  }

  close(): void {
    this.timer?.cancel()
  }

  private lookLater(): void {
    this.timer = this.parts.clock.after(LOOK_MS, () => {
      this.look()
      this.lookLater()
    })
  }
}

function fingerprintOf({ certFile, keyFile }: TlsFiles): string {
  return createHash('sha256').update(readFileSync(certFile)).update(readFileSync(keyFile)).digest('hex')
}

function passphraseOf(password: string | undefined): { readonly passphrase?: string } {
  return password === undefined ? {} : { passphrase: password }
}

function checked<Value>(setting: 'sslCertFile' | 'sslKeyFile', file: string, use: () => Value): Value {
  try {
    return use()
  } catch (error) {
    throw ConfigErrors.FILE_UNUSABLE({ name: SETTINGS[setting].name, file, reason: errorText(error) }, error)
  }
}
