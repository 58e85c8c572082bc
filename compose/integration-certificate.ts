/** The certificate that ports of integrations show, as the settings name it. */
import { constants } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { SETTINGS, type Config } from '../config/settings.ts'
import type { SystemLog } from '../logging/log.ts'
import { systemClock } from '../model/system-clock.ts'
import {
  CertificateWatch,
  certificateFiles,
  pemOf,
  type CertificateSettings,
  type TlsFiles,
} from '../server/certificate.ts'
import type { Closing } from './closing.ts'

type Named = Pick<Config, 'integrationSslCertFile' | 'integrationSslKeyFile' | 'integrationSslKeyPassword'>

/** Undefined where none is named. */
export function integrationCertificate(config: Named): CertificateSettings | undefined {
  if (config.integrationSslCertFile === undefined) return undefined
  return {
    certFile: config.integrationSslCertFile,
    keyFile: config.integrationSslKeyFile,
    keyPassword: config.integrationSslKeyPassword,
    names: {
      enabled: SETTINGS.integrationSslCertFile.name,
      certFile: SETTINGS.integrationSslCertFile.name,
      keyFile: SETTINGS.integrationSslKeyFile.name,
    },
  }
}

/** What new connections are shown, read again when its files change. Throws `certificate.FILE_UNUSABLE`. */
export function openIntegrationCertificate(
  config: Named,
  log: SystemLog,
  closing: Closing,
): (() => SecureContext) | undefined {
  const settings = integrationCertificate(config)
  if (settings === undefined) return undefined
  const files = certificateFiles(settings)
  const contextOf = (named: TlsFiles): SecureContext =>
    createSecureContext({ ...pemOf(named), secureOptions: constants.SSL_OP_NO_RENEGOTIATION })
  let context = contextOf(files)
  const watch = new CertificateWatch({
    ...{ label: 'Integrations over TLS', settings, files, log, clock: systemClock },
    replace: (changed) => {
      context = contextOf(changed)
    },
  })
  closing.add('the certificate of integrations', () => {
    watch.close()
    return Promise.resolve()
  })
  return () => context
}
