/**
 * The pages of people who log in, in a real browser on the real program. Every test ends with a look whether the browser complained. With
 * SCREENSHOTS=DIR what was seen at the end of each is kept there.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { Browser, type Look } from './browser.ts'
import { DEMO_TENANT } from './clients.ts'
import { hasTool, requireTool } from './require-tool.ts'
import { startMillrace, type RunningMillrace, type StartOptions } from './start-millrace.ts'

/** `complaints`: what the browser may say of answers that the test provokes. */
export type Seen = (
  name: string,
  run: (browser: Browser, millrace: RunningMillrace) => Promise<void>,
  look?: Look & { readonly complaints?: readonly RegExp[] },
) => void

/** One program for all tests of a file. */
export function consoleTests(options: StartOptions = {}): Seen {
  let millrace: RunningMillrace | undefined
  before(async () => {
    if (hasTool('chromedriver')) millrace = await startMillrace(options)
  })
  after(() => millrace?.stop())
  return (name, run, { complaints = [], ...look } = {}) =>
    void test(name, async (context: TestContext) => {
      if (!requireTool(context, 'chromedriver') || millrace === undefined) return
      const browser = await Browser.start(look)
      try {
        await run(browser, millrace)
        const loud = (await browser.complaints()).filter((line) => !complaints.some((known) => known.test(line)))
        assert.deepEqual(loud, [])
      } finally {
        await keepScreenshot(name, browser)
        await browser.close()
      }
    })
}

export async function keepScreenshot(name: string, browser: Browser): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), await browser.screenshot())
}

export async function logIn(
  browser: Browser,
  { url }: Pick<RunningMillrace, 'url'>,
  account: { readonly username: string; readonly password: string } = DEMO_TENANT,
  path = '/login',
): Promise<void> {
  await browser.open(url + path)
  await (await browser.find('input[name=username]')).type(account.username)
  await (await browser.find('input[name=password]')).type(account.password)
  await (await browser.named('Log in')).click()
}

/** A script: calls of that path wait from now on, each until `letGo()` of the page. */
export function heldFetch(path: string): string {
  return `
    const real = window.fetch
    window.fetch = (path, how) =>
      path === ${JSON.stringify(path)}
        ? new Promise((resolve) => (window.letGo = () => resolve(real(path, how))))
        : real(path, how)`
}
