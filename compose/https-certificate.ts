/** The certificate of HTTPS, as the settings name it. */
import { SETTINGS, type Config } from '../config/settings.ts'
import type { CertificateSettings } from '../server/certificate.ts'

/** Undefined where HTTPS is off. */
export function httpsCertificate(
  config: Pick<Config, 'sslEnabled' | 'sslCertFile' | 'sslKeyFile' | 'sslKeyPassword'>,
): CertificateSettings | undefined {
  if (!config.sslEnabled) return undefined
  return {
    certFile: config.sslCertFile,
    keyFile: config.sslKeyFile,
    keyPassword: config.sslKeyPassword,
    names: {
      enabled: SETTINGS.sslEnabled.name,
      certFile: SETTINGS.sslCertFile.name,
      keyFile: SETTINGS.sslKeyFile.name,
    },
  }
}
