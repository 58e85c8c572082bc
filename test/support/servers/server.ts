/** What a real server is to a test, whichever server it is. */

/** Those that keep what must not be lost. */
export type StoreServer = 'nats' | 'postgres' | 'questdb'
export type ServerName = StoreServer | 'valkey'
/** What rule nodes call. */
export type BrokerName = 'kafka' | 'moto' | 'rabbitmq'

export interface RunningServer {
  /** Where clients connect; several nodes of a cluster are joined by commas. */
  readonly url: string
  /**
   * False for a server that the environment named: it is nobody's to kill, pause or restart, and these throw.
   * A test that needs them calls `requireOwnServer`.
   */
  readonly owned: boolean
  /** The process id now; another one after a restart. */
  readonly pid: number
  /** Keeps its content over kill and restart; removed by `stop` unless the caller named it. */
  readonly dataDir: string
  /** What it wrote to its output, the last 64 KiB. */
  log(): string
  /** SIGKILL to the server and its children; resolves when they are gone. */
  kill(): Promise<void>
  /** Starts again on the same data and ports, after an orderly end when it still runs; resolves when it answers. */
  restart(): Promise<void>
  /** SIGSTOP to the server and its children: connections stay open and nothing answers. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** Ends it in order (SIGKILL after 20 s) and removes what it left behind. Idempotent. */
  stop(): Promise<void>
}

/** A server of the environment: usable, and out of reach for signals. */
export function serverOfEnvironment(name: ServerName, url: string, stop?: () => Promise<void>): RunningServer {
  const refuse = (): never => {
    throw new Error(`the ${name} server at the address from the environment is not this test's to end or pause`)
  }
  return {
    url,
    owned: false,
    pid: 0,
    dataDir: '',
    log: () => '',
    kill: () => Promise.reject(new Error(`the ${name} server of the environment is not this test's to end`)),
    restart: () => Promise.reject(new Error(`the ${name} server of the environment is not this test's to restart`)),
    pause: refuse,
    resume: refuse,
    stop: stop ?? (() => Promise.resolve()),
  }
}
