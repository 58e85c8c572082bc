/** A real browser for tests, driven over WebDriver: Chromium without a window, by the chromedriver of this machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { SLOWNESS } from './slowness.ts'

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
const elementSchema = z.object({ [ELEMENT]: z.string() }).transform((reference) => reference[ELEMENT])
const answerSchema = z.object({ value: z.unknown() })
const refusalSchema = z.object({ error: z.string(), message: z.string() })
/** The element was taken out of the page. */
const GONE = 'stale element reference'
const logSchema = z.array(z.object({ level: z.string(), message: z.string() }))

/** A page loads some twenty modules: beside a load of forty on each core ten seconds were not enough. */
const PATIENCE_MS = 60_000
const DRIVER_TRIES = 5

/** Codes of WebDriver for keys that write nothing. */
export const KEYS = {
  tab: '\uE004',
  enter: '\uE007',
  space: '\uE00D',
  escape: '\uE00C',
  shift: '\uE008',
  control: '\uE009',
  left: '\uE012',
  up: '\uE013',
  right: '\uE014',
  down: '\uE015',
} as const

export interface Look {
  readonly width?: number
  readonly height?: number
  readonly colours?: 'light' | 'dark'
}

export interface Element {
  click(): Promise<void>
  /** Into what is there: clear first where something is. */
  type(text: string): Promise<void>
  text(): Promise<string>
  /** What a screen reader says of it. */
  label(): Promise<string>
  role(): Promise<string>
}

export class Browser {
  private readonly session: string
  private readonly end: () => Promise<void>

  private constructor(session: string, end: () => Promise<void>) {
    this.session = session
    this.end = end
  }

  static async start({ width = 1000, height = 800, colours = 'light' }: Look = {}): Promise<Browser> {
    const { address, stop } = await startedDriver()
    try {
      const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
      args.push(`--window-size=${width},${height}`)
      if (colours === 'dark') args.push('--force-dark-mode', '--blink-settings=preferredColorScheme=0')
      const alwaysMatch = { 'goog:chromeOptions': { args }, 'goog:loggingPrefs': { browser: 'ALL' } }
      const made = await ask('POST', `${address}/session`, { capabilities: { alwaysMatch } })
      const { sessionId } = z.object({ sessionId: z.string() }).parse(made)
      return new Browser(`${address}/session/${sessionId}`, stop)
    } catch (error) {
      await stop()
      throw error
    }
  }

  async open(url: string): Promise<void> {
    await ask('POST', `${this.session}/url`, { url })
  }

  async reload(): Promise<void> {
    await ask('POST', `${this.session}/refresh`, {})
  }

  /** A script that leaves the page while it runs has lost its context, and a driver that saw none runs it again: two pages back. */
  async back(): Promise<void> {
    await this.run('setTimeout(() => history.back())')
  }

  async path(): Promise<string> {
    return new URL(z.string().parse(await ask('GET', `${this.session}/url`))).pathname
  }

  /** Waits until one is there. */
  async find(css: string): Promise<Element> {
    return this.element(css, () => this.reference('css selector', css))
  }

  /**
   * A link, button or other element of that very text that is shown. What belongs to a page is waited for until the page is whole: a list that comes
   * between the look for an element and the click on it moves it away.
   */
  async named(text: string): Promise<Element> {
    // XPath has no way to write both kinds of quotes.
    const quote = text.includes('"') ? "'" : '"'
    const path = `//*[self::a or self::button or self::summary][normalize-space()=${quote}${text}${quote}][not(ancestor::main[@aria-busy])]`
    return this.element(text, () => this.shown('xpath', path))
  }

  /** The first option that begins with the text, once it is there. Keys choose by what comes within a second of each other. */
  async choose(css: string, text: string): Promise<void> {
    const script = `return [...document.querySelectorAll(${JSON.stringify(`${css} option`)})]
      .find((option) => option.text.startsWith(${JSON.stringify(text)}))`
    const look = async () => elementSchema.nullable().parse(await this.run(script)) ?? undefined
    await (await this.element(`${text} in ${css}`, look)).click()
  }

  /** Waits until the page has the text, and answers all that it shows. */
  async sees(wanted: RegExp | string): Promise<string> {
    return this.until(String(wanted), async () => {
      const text = z.string().parse(await this.run('return document.body.innerText'))
      return text.match(wanted) === null ? undefined : text
    })
  }

  async focused(): Promise<Element> {
    return this.element('focus', async () => elementSchema.parse(await ask('GET', `${this.session}/element/active`)))
  }

  /** Keys go to whatever has the focus. */
  async press(keys: string): Promise<void> {
    const actions = [...keys].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await ask('POST', `${this.session}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  /** Keys while another is held. */
  async chord(held: string, keys: string): Promise<void> {
    const pressed = [...keys].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    const actions = [{ type: 'keyDown', value: held }, ...pressed, { type: 'keyUp', value: held }]
    await ask('POST', `${this.session}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  /** With the mouse, from the middle of what `css` names, by so many pixels. */
  async drag(css: string, x: number, y: number): Promise<void> {
    const origin = await this.until(css, () => this.reference('css selector', css))
    const at = { [ELEMENT]: origin }
    const actions = [
      { type: 'pointerMove', duration: 0, x: 0, y: 0, origin: at },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerMove', duration: 20, x: Math.round(x / 2), y: Math.round(y / 2), origin: 'pointer' },
      { type: 'pointerMove', duration: 20, x: x - Math.round(x / 2), y: y - Math.round(y / 2), origin: 'pointer' },
      { type: 'pointerUp', button: 0 },
    ]
    const mouse = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }
    await ask('POST', `${this.session}/actions`, { actions: [mouse] })
  }

  /** With the mouse, from the middle of what `from` names to that of what `to` names. */
  async dragTo(from: string, to: string): Promise<void> {
    const middleOf = async (css: string) => {
      const at = { [ELEMENT]: await this.until(css, () => this.reference('css selector', css)) }
      return { type: 'pointerMove', duration: 0, x: 0, y: 0, origin: at }
    }
    const [begin, end] = [await middleOf(from), await middleOf(to)]
    const actions = [begin, { type: 'pointerDown', button: 0 }, end, { type: 'pointerUp', button: 0 }]
    const mouse = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }
    await ask('POST', `${this.session}/actions`, { actions: [mouse] })
  }

  async run(script: string): Promise<unknown> {
    return ask('POST', `${this.session}/execute/sync`, { script, args: [] })
  }

  /** PNG. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from(z.string().parse(await ask('GET', `${this.session}/screenshot`)), 'base64')
  }

  /** What the browser complained of since it was asked last. */
  async complaints(): Promise<readonly string[]> {
    const lines = logSchema.parse(await ask('POST', `${this.session}/se/log`, { type: 'browser' }))
    return lines.filter(({ level }) => level === 'SEVERE' || level === 'WARNING').map(({ message }) => message)
  }

  async close(): Promise<void> {
    await ask('DELETE', this.session).catch(() => undefined) // The driver is ended next, whatever the browser says.
    await this.end()
  }

  /** The first that is not in something folded up. */
  private async shown(using: string, value: string): Promise<string | undefined> {
    for (const found of await this.references(using, value))
      // One that was taken out of the page meanwhile is not shown.
      if ((await ask('GET', `${this.session}/element/${found}/displayed`).catch(() => false)) === true) return found
    return undefined
  }

  private async reference(using: string, value: string): Promise<string | undefined> {
    return (await this.references(using, value))[0]
  }

  private async references(using: string, value: string): Promise<readonly string[]> {
    return z.array(elementSchema).parse(await ask('POST', `${this.session}/elements`, { using, value }))
  }

  private async until<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
    const deadline = performance.now() + PATIENCE_MS * SLOWNESS
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (performance.now() > deadline) {
        const shown = z.string().parse(await this.run('return document.body.innerText'))
        const address = z.string().parse(await this.run('return location.pathname + location.search'))
        throw new Error(`${what} does not come; at ${address} the page shows:\n${shown}`)
      }
      await pause(50)
    }
  }

  /** A list that is drawn anew between the look and the act is looked at once more, as a person would. */
  private async element(what: string, look: () => Promise<string | undefined>): Promise<Element> {
    let reference = await this.until(what, look)
    const act = async (run: (at: string) => Promise<unknown>): Promise<unknown> => {
      const deadline = performance.now() + PATIENCE_MS * SLOWNESS
      for (;;)
        try {
          return await run(`${this.session}/element/${reference}`)
        } catch (error) {
          if (!(error instanceof Refused && error.code === GONE) || performance.now() > deadline) throw error
          reference = await this.until(what, look)
        }
    }
    const asked = async (property: string) => z.string().parse(await act((at) => ask('GET', `${at}/${property}`)))
    return {
      click: async () => void (await act((at) => ask('POST', `${at}/click`, {}))),
      type: async (text) => void (await act((at) => ask('POST', `${at}/value`, { text }))),
      text: () => asked('text'),
      label: () => asked('computedlabel'),
      role: () => asked('computedrole'),
    }
  }
}

/** `code`: of WebDriver. */
class Refused extends Error {
  readonly code: string

  constructor(asked: string, { error, message }: z.infer<typeof refusalSchema>) {
    super(`${asked}: ${error}: ${message.slice(0, 500)}`)
    this.code = error
  }
}

async function ask(method: string, url: string, body?: object): Promise<unknown> {
  const answer = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const { value } = answerSchema.parse(await answer.json())
  if (!answer.ok) throw new Refused(`${method} ${new URL(url).pathname}`, refusalSchema.parse(value))
  return value
}

interface Driver {
  readonly address: string
  readonly stop: () => Promise<void>
}

/** It looks for a free port, then takes it for IPv6 too: it ends where another program was quicker there. */
async function startedDriver(tries = DRIVER_TRIES): Promise<Driver> {
  // Browsers leave their profiles of some megabytes in it.
  const folder = await mkdtemp(join(tmpdir(), 'millrace-browser-'))
  const driver = spawn('chromedriver', ['--port=0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, TMPDIR: folder },
  })
  const ended = once(driver, 'exit')
  const stop = async () => {
    driver.kill()
    await ended
    // A browser may write a moment longer than its driver lives.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  const port = await portOf(driver.stdout)
  if (port !== undefined) return { address: `http://127.0.0.1:${port}`, stop }
  await stop()
  if (tries > 1) return startedDriver(tries - 1)
  throw new Error('chromedriver ended before it listened')
}

/** Undefined where it ended before it listened. */
async function portOf(output: NodeJS.ReadableStream): Promise<string | undefined> {
  const lines = createInterface({ input: output })
  for await (const line of lines) {
    const port = /started successfully on port (\d+)/.exec(line)?.[1]
    if (port === undefined) continue
    // Nobody reads on: what is written must not fill the pipe.
    output.resume()
    return port
  }
  return undefined
}
