/** The page of a device, in a real browser on the real program: what it looks at by the clock, and what it says to who does not see it. */
import assert from 'node:assert/strict'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

/** What is to be done in five seconds is done when the test says so. */
const HELD_TIMERS = `
  const real = window.setTimeout
  window.due = []
  window.setTimeout = (act, afterMs, ...more) => afterMs === 5000 ? window.due.push(act) : real(act, afterMs, ...more)`

/** Not the link to the page of all alarms. */
const FOLD = "[...document.querySelectorAll('main summary')].find((each) => each.textContent === 'Alarms').click()"

seen('alarms that are folded up and unfolded again are looked at by one clock', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Clock', 'CLOCK')
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdevices%2F${id}`)
  await browser.sees('Live.')
  await browser.run(HELD_TIMERS)
  for (const count of [1, 2, 3]) {
    await browser.run(FOLD)
    await until(async () => (await browser.run('return window.due.length')) === count)
    await browser.run(FOLD)
  }
  await browser.run(FOLD)
  await until(async () => (await browser.run('return window.due.length')) === 4)
  await browser.run('for (const act of window.due.splice(0)) act()')
  await until(async () => Number(await browser.run('return window.due.length')) > 0)
  // All four had their turn: each that goes on is due again.
  await browser.run('return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  assert.equal(await browser.run('return window.due.length'), 1)
})

seen('that a device is active now is read out, and not what the page says already', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Sleeper', 'SLEEPER')
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdevices%2F${id}`)
  await browser.sees('Live.')
  const spoken =
    "return [...document.querySelectorAll('main > [role=status].spoken')].map((each) => each.textContent).join()"
  await browser.sees(/inactive/)
  assert.equal(await browser.run(spoken), '')
  await fetch(`${running.url}/api/v1/SLEEPER/telemetry`, { method: 'POST', body: '{"heat":1}' })
  await until(async () => (await browser.run(spoken)) === 'Sleeper is active now.')
})
