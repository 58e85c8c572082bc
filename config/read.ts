/** Reads the configuration from the environment: complete and frozen, or an error that names the setting, the value and what is allowed. */
import { ConfigErrors, withoutPasswords, type Setting } from './define.ts'
import { TRANSPORTS } from '../transports/catalogue.ts'
import { SETTINGS, type Config } from './settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface SettingInForce {
  readonly setting: Setting<unknown>
  readonly shown: string
  readonly source: 'default' | 'environment'
}

/** Throws BAD_VALUE, UNKNOWN_SETTING, CONTRADICTION. */
export function readConfig(environment: Environment): Config {
  refuseUnknown(environment)
  const config: Record<string, unknown> = {}
  for (const [key, setting] of declaredSettings()) config[key] = valueOf(setting, environment)
  const complete = Object.freeze(config) as Config
  refuseContradictions(complete)
  return complete
}

/** Every setting with its present value and where that came from; secrets masked. Bad values are shown as such, not thrown. */
export function settingsInForce(environment: Environment): readonly SettingInForce[] {
  return declaredSettings().map(([, setting]) => {
    const text = environment[setting.name]
    if (text === undefined) return { setting, shown: setting.show(setting.defaultValue), source: 'default' as const }
    const value = setting.parse(text)
    const bad =
      value === undefined
        ? `${setting.secret ? '********' : withoutPasswords(text)} (not allowed: ${setting.allowed})`
        : undefined
    return { setting, shown: bad ?? setting.show(value), source: 'environment' as const }
  })
}

function declaredSettings(): [string, Setting<unknown>][] {
  return Object.entries(SETTINGS)
}

function valueOf(setting: Setting<unknown>, environment: Environment): unknown {
  const text = environment[setting.name]
  if (text === undefined) return setting.defaultValue
  const value = setting.parse(text)
  if (value === undefined) {
    throw ConfigErrors.BAD_VALUE({
      name: setting.name,
      value: setting.secret ? '********' : JSON.stringify(withoutPasswords(text)),
      allowed: setting.allowed,
    })
  }
  return value
}

/**
 * The environment is shared with the whole machine, so a foreign name is no error; one that is nearly ours is a slip.
 */
function refuseUnknown(environment: Environment): void {
  const names = declaredSettings().map(([, setting]) => setting.name)
  for (const name of Object.keys(environment)) {
    if (names.includes(name) || !OUR_PREFIX.test(name)) continue
    const nearest = nearestName(name, names)
    if (nearest !== undefined) throw ConfigErrors.UNKNOWN_SETTING({ name, nearest })
  }
}

const OUR_PREFIX =
  /^(HTTP_BIND|MQTT_|COAP_BIND|LWM2M_BIND|JWT_|TB_QUEUE_|DATA_DI|DURABILI|READY_J|MILLRACE_|DATABASE_|NATS_|QUESTDB_)/

function nearestName(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = 3
  for (const candidate of names) {
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}

function refuseContradictions(config: Config): void {
  refuseSharedPorts(config)
  if (config.queueMaxRetryPauseSeconds < config.queueRetryPauseSeconds) {
    throw ConfigErrors.CONTRADICTION({
      reason:
        'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE is shorter than TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE: raise the one or lower the other',
    })
  }
  if (config.roles.length < 3) {
    const own = [
      config.link === 'jetstream' ? undefined : 'LINK=jetstream',
      config.entitiesDatabase === 'postgres' ? undefined : 'DATABASE_ENTITIES_TYPE=postgres',
      config.timeSeriesDatabase === 'embedded' ? 'DATABASE_TS_TYPE=questdb (or sql)' : undefined,
    ].filter((each) => each !== undefined)
    if (own.length > 0) {
      throw ConfigErrors.CONTRADICTION({
        reason: `MILLRACE_ROLES=${config.roles.join(',')} leaves the rest to other processes, and what they share can not be in this one's data folder: set ${own.join(' and ')} too`,
      })
    }
  }
  if (config.link === 'jetstream' && config.entitiesDatabase === 'sqlite') {
    throw ConfigErrors.CONTRADICTION({
      reason:
        'LINK=jetstream shares messages between processes, so it needs DATABASE_ENTITIES_TYPE=postgres and DATABASE_TS_TYPE=questdb (or sql) too',
    })
  }
  if (config.link === 'jetstream' && config.timeSeriesDatabase === 'embedded') {
    throw ConfigErrors.CONTRADICTION({
      reason: 'LINK=jetstream shares messages between processes, so it needs DATABASE_TS_TYPE=questdb (or sql) too',
    })
  }
  refuseContradictoryLogins(config)
  refuseLateCalls(config)
  if (config.jwtRefreshExpirationSeconds < config.jwtExpirationSeconds) {
    throw ConfigErrors.CONTRADICTION({
      reason:
        'JWT_REFRESH_TOKEN_EXPIRATION_TIME is shorter than JWT_TOKEN_EXPIRATION_TIME: a refresh token must outlive its access token',
    })
  }
}

function refuseSharedPorts(config: Config): void {
  const taken = new Map<string, string>()
  const { httpBindPort: port, httpBindAddress: address } = config
  const listeners = TRANSPORTS.flatMap(({ listeners }) => listeners(config)).filter((at) => at !== 'http')
  for (const at of [{ over: 'tcp', port, address, portName: SETTINGS.httpBindPort.name }, ...listeners]) {
    if (at.port === 0) continue
    const place = `${at.port} on ${at.address}`
    const other = taken.get(`${at.over} ${place}`)
    if (other !== undefined) {
      throw ConfigErrors.CONTRADICTION({
        reason: `${other} and ${at.portName} are both ${place}: give one of them another port`,
      })
    }
    taken.set(`${at.over} ${place}`, at.portName)
  }
}

/** A node's time is looked at eight times: one that is over before its call is done never hears of the call's end. */
function refuseLateCalls({ outboundTimeoutMs, ruleNodeTimeoutMs }: Config): void {
  const longest = Math.floor((ruleNodeTimeoutMs * 7) / 8)
  if (outboundTimeoutMs <= longest) return
  throw ConfigErrors.CONTRADICTION({
    reason: `OUTBOUND_TIMEOUT_MS is ${outboundTimeoutMs}, which RULE_NODE_TIMEOUT_MS (${ruleNodeTimeoutMs}) leaves no room for: set it to at most ${longest}, or raise RULE_NODE_TIMEOUT_MS`,
  })
}

function refuseContradictoryLogins(config: Config): void {
  const { natsUrl, natsCertFile, natsKeyFile, natsCredsFile, questDbUrl, questDbToken, questDbCaFile } = config
  if ((natsCertFile === undefined) !== (natsKeyFile === undefined)) {
    throw ConfigErrors.CONTRADICTION({
      reason: 'NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE belong together: set both or neither',
    })
  }
  if (natsCredsFile !== undefined && natsUrl.includes('@')) {
    throw ConfigErrors.CONTRADICTION({
      reason: 'NATS_CREDS_FILE and the login in NATS_URL are two logins: leave one of them out',
    })
  }
  if (questDbToken !== undefined && questDbUrl.includes('@')) {
    throw ConfigErrors.CONTRADICTION({
      reason: 'QUESTDB_TOKEN and the login in QUESTDB_URL are two logins: leave one of them out',
    })
  }
  if (questDbCaFile !== undefined && !questDbUrl.startsWith('https:')) {
    throw ConfigErrors.CONTRADICTION({
      reason: 'QUESTDB_TLS_CA_FILE is for TLS, and QUESTDB_URL has none: begin it with https:, or leave the file out',
    })
  }
}
