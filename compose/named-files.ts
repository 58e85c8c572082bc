/**
 * The files that settings name are read once at the start: a slip in a path is said with the setting's name, and not as whatever a server's
 * client makes of it.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigErrors } from '../config/define.ts'
import { SETTINGS, type Config } from '../config/settings.ts'
import { errorText } from '../model/errors.ts'
import { certificateFiles } from '../server/certificate.ts'
import { TRANSPORTS } from '../transports/catalogue.ts'
import { httpsCertificate } from './https-certificate.ts'
import { integrationCertificate } from './integration-certificate.ts'

type FileKey =
  | 'mqttsCaFile'
  | 'coapsCaFile'
  | 'natsCaFile'
  | 'natsCertFile'
  | 'natsKeyFile'
  | 'natsCredsFile'
  | 'questDbCaFile'
  | 'redisCaFile'

/** Throws `config.FILE_UNUSABLE`, `certificate.FILE_UNUSABLE`, `certificate.FILE_MISSING`. */
export function refuseUnusableFiles(config: Config): void {
  const shown = TRANSPORTS.flatMap(({ listeners }) => listeners(config)).map((at) => at !== 'http' && at.certificate)
  const others = [httpsCertificate(config), integrationCertificate(config)]
  for (const certificate of [...others, ...shown]) if (certificate) certificateFiles(certificate)
  for (const key of ['natsCaFile', 'questDbCaFile', 'mqttsCaFile', 'coapsCaFile', 'redisCaFile'] as const) {
    check(config, key, (text) => void new X509Certificate(text))
  }
  check(config, 'natsCertFile', (cert) => void createSecureContext({ cert }))
  check(config, 'natsKeyFile', (key) => {
    createSecureContext({ key, cert: readFileSync(config.natsCertFile ?? '') })
  })
  check(config, 'natsCredsFile', () => undefined)
}

function check(config: Config, key: FileKey, use: (content: Buffer) => void): void {
  const file = config[key]
  if (file === undefined) return
  try {
    use(readFileSync(file))
  } catch (error) {
    throw ConfigErrors.FILE_UNUSABLE({ name: SETTINGS[key].name, file, reason: errorText(error) }, error)
  }
}
