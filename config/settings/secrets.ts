import { settingsOf } from '../define.ts'

const secrets = settingsOf('Secrets, mail')

export const SECRETS_SETTINGS = {
  secretsKey: secrets.secret({
    name: 'SECRETS_KEY',
    default: undefined,
    description:
      'Seals secrets in the database (AES-256-GCM). Without it a key is made: in `secrets.key` of the data folder (mode 0600), or, with PostgreSQL, in the database beside what it seals, which protects nothing.',
    absent: 'made at first start',
    allowed: 'Base64 of 32 bytes (`openssl rand -base64 32`)',
    accepts: isKey,
  }),
  secretsFormerKeys: secrets.secret({
    name: 'SECRETS_FORMER_KEYS',
    default: undefined,
    description:
      'Former keys: the start seals anew what they sealed. Several processes: first name the new key here everywhere, then swap.',
    absent: 'none',
    allowed: 'keys as above, joined by commas',
    accepts: (text) => text.split(',').every((key) => isKey(key.trim())),
  }),
  mailUrl: secrets.secret({
    name: 'MAIL_URL',
    default: undefined,
    description:
      'Mail server until a system administrator saves one; `?tls=true` insists on STARTTLS. Without any, links are told to the system log.',
    absent: 'none',
    allowed: 'smtp://USER:PASSWORD@HOST:PORT or smtps://…',
    accepts: (text) => {
      const url = URL.parse(text)
      return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
    },
  }),
  mailFrom: secrets.text({
    name: 'MAIL_FROM',
    default: 'Millrace <noreply@localhost>',
    description: 'Sender of mails by MAIL_URL.',
  }),
} as const

function isKey(text: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === 32
}
