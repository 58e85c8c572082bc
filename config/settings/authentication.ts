import { settingsOf } from '../define.ts'

const auth = settingsOf('Authentication')

export const AUTHENTICATION_SETTINGS = {
  jwtSigningKey: auth.secret({
    name: 'JWT_TOKEN_SIGNING_KEY',
    default: undefined,
    description: "Signs users' tokens; one that is made stays in the data folder.",
    absent: 'made at first start',
    allowed: 'Base64 of at least 64 bytes (`openssl rand -base64 64`)',
    accepts: (text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length >= 64,
  }),
  jwtFormerSigningKeys: auth.secret({
    name: 'JWT_TOKEN_FORMER_SIGNING_KEYS',
    default: undefined,
    description:
      'Former signing keys: their tokens are good until they expire, so a new key logs nobody out. Tokens dated over an hour after the first start with them are refused.',
    absent: 'none',
    allowed: 'keys as above, joined by commas',
    accepts: (text) =>
      text
        .split(',')
        .every((key) => /^[A-Za-z0-9+/]+={0,2}$/.test(key.trim()) && Buffer.from(key, 'base64').length >= 64),
  }),
  jwtExpirationSeconds: auth.integer({
    name: 'JWT_TOKEN_EXPIRATION_TIME',
    default: 9000,
    min: 60,
    max: 31_536_000,
    unit: 's',
    description: 'Life of an access token.',
  }),
  jwtRefreshExpirationSeconds: auth.integer({
    name: 'JWT_REFRESH_TOKEN_EXPIRATION_TIME',
    default: 604_800,
    min: 900,
    max: 31_536_000,
    unit: 's',
    description: 'Life of a refresh token.',
  }),
  jwtIssuer: auth.text({
    name: 'JWT_TOKEN_ISSUER',
    default: 'thingsboard.io',
    description: 'Issuer in the tokens; existing clients expect the default.',
  }),

  loginFailures: auth.integer({
    name: 'LOGIN_MAX_FAILURES',
    default: 10,
    min: 1,
    max: 1000,
    description: 'Failed logins in a row that lock a user at one address.',
  }),
  loginLockSeconds: auth.integer({
    name: 'LOGIN_LOCK_SECONDS',
    default: 30,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'Length of that lock.',
  }),
  loginFailuresPerAddress: auth.integer({
    name: 'LOGIN_MAX_FAILURES_PER_ADDRESS',
    default: 100,
    min: 1,
    max: 1_000_000,
    description:
      'Failed logins in LOGIN_WINDOW_SECONDS after which an address (IPv6: /64) gets 429, except users who logged in from it before.',
  }),
  loginFailuresPerUser: auth.integer({
    name: 'LOGIN_MAX_FAILURES_PER_USER',
    default: 100,
    min: 1,
    max: 1_000_000,
    description:
      'Failed logins from anywhere in LOGIN_WINDOW_SECONDS that lock a user, except at addresses of earlier logins.',
  }),
  loginWindowSeconds: auth.integer({
    name: 'LOGIN_WINDOW_SECONDS',
    default: 900,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'How long failed logins are counted together.',
  }),
} as const
