/**
 * The certificate that a server shows: checked before the server has it, since the libraries do not say what is wrong with one, and read again
 * when its files change. They are looked at by their content: what replaces them (a link, a rename, a copy) makes no difference.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Clock, TimerHandle } from '../model/clock.ts'
import { defineErrors, errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'

const LOOK_MS = 2_000

export const CertificateErrors = defineErrors('certificate', {
  FILE_MISSING: {
    kind: 'terminal',
    status: 500,
    text: '{enabled}=true needs a certificate: name its file in {setting}',
  },
  FILE_UNUSABLE: { kind: 'terminal', status: 500, text: '{name}={file} can not be used: {reason}' },
})

/** Paths of PEM files; the certificate with those that vouch for it. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly keyPassword?: string | undefined
}

export interface CheckedFiles extends TlsFiles {
  /** Of what the files held when they were checked: what changes later is a change for those who watch. */
  readonly fingerprint: string
}

/** What the settings say of it, and the names of these settings for refusals. */
export interface CertificateSettings {
  readonly certFile: string | undefined
  /** Undefined: the key is in the file of the certificate. */
  readonly keyFile: string | undefined
  readonly keyPassword: string | undefined
  readonly names: { readonly enabled: string; readonly certFile: string; readonly keyFile: string }
}

/** Throws `certificate.FILE_MISSING`, `certificate.FILE_UNUSABLE`: one sentence that names setting, file and reason. */
export function certificateFiles(settings: CertificateSettings): CheckedFiles {
  const { certFile, keyFile = certFile, keyPassword, names } = settings
  if (certFile === undefined || keyFile === undefined)
    throw CertificateErrors.FILE_MISSING({ enabled: names.enabled, setting: names.certFile })
  const cert = checked(names.certFile, certFile, () => {
    const text = readFileSync(certFile)
    createSecureContext({ cert: text })
    return text
  })
  const key = checked(settings.keyFile === undefined ? names.certFile : names.keyFile, keyFile, () => {
    const text = readFileSync(keyFile)
    createSecureContext({ cert, key: text, ...passphraseOf(keyPassword) })
    return text
  })
  return { certFile, keyFile, keyPassword, fingerprint: fingerprintOf(cert, key) }
}

/** As Node's TLS takes it. Throws where a file can not be read. */
export function pemOf({ certFile, keyFile, keyPassword }: TlsFiles): {
  readonly cert: Buffer
  readonly key: Buffer
  readonly passphrase?: string
} {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile), ...passphraseOf(keyPassword) }
}

export interface CertificateWatchParts {
  /** The server's name in the log. */
  readonly label: string
  readonly settings: CertificateSettings
  /** As they were checked before the server had them. */
  readonly files: CheckedFiles
  /** New connections see it from now on. Throws where it is no good, and changes nothing then. */
  readonly replace: (files: TlsFiles) => void
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
    this.seen = parts.files.fingerprint
    this.lookLater()
  }

  look(): void {
    const { label, settings, files, replace, log } = this.parts
    try {
      if (fingerprintOf(readFileSync(files.certFile), readFileSync(files.keyFile)) === this.seen) {
        this.told = undefined
        return
      }
      // Two files are replaced one after the other: until the second one is there they do not fit.
      const { fingerprint } = certificateFiles(settings)
      replace(files)
      this.seen = fingerprint
      this.told = undefined
      log.info(`${label} has a new certificate`, { file: files.certFile })
    } catch (error) {
      const reason = errorText(error)
      if (reason !== this.told) log.error(`${label} keeps its old certificate: the new one can not be used`, { reason })
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

function fingerprintOf(cert: Buffer, key: Buffer): string {
  return createHash('sha256').update(cert).update(key).digest('hex')
}

function passphraseOf(password: string | undefined): { readonly passphrase?: string } {
  return password === undefined ? {} : { passphrase: password }
}

function checked<Value>(name: string, file: string, use: () => Value): Value {
  try {
    return use()
  } catch (error) {
    throw CertificateErrors.FILE_UNUSABLE({ name, file, reason: errorText(error) }, error)
  }
}
