/** What a page costs when it is loaded again, in a real browser on the real program: what the browser has already is asked for and not sent. */
import assert from 'node:assert/strict'
import { DEMO_TENANT } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'

const seen = consoleTests()

const BYTES = `return performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/console/'))
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`

seen('scripts and styles are sent once, and again only where they are others', async (browser, { url }) => {
  await logIn(browser, { url }, DEMO_TENANT)
  await browser.sees('Devices')
  await browser.open(`${url}/queues`)
  await browser.sees('Main')
  const first = Number(await browser.run(BYTES))
  await browser.open(`${url}/queues`)
  await browser.sees('Main')
  const second = Number(await browser.run(BYTES))
  assert(second > 0 && second < first, `${first} bytes, then ${second}`)
  const sent = await fetch(`${url}/console/main.js`)
  const etag = sent.headers.get('etag') ?? ''
  // Asked for each time: after an upgrade none is stale.
  assert.equal(sent.headers.get('cache-control'), 'no-cache')
  assert.match(sent.headers.get('content-security-policy') ?? '', /script-src 'self'/)
  const asked = async (known: string) =>
    (await fetch(`${url}/console/main.js`, { headers: { 'If-None-Match': known } })).status
  assert.deepEqual([await asked(etag), await asked('*')], [304, 304])
  assert.equal(await asked('"another"'), 200)
  assert.equal((await fetch(`${url}/queues`)).headers.get('cache-control'), 'no-store')
})
