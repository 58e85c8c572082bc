/** The pages of people who log in, in a real browser on the real program. */
import assert from 'node:assert/strict'
import { KEYS } from '../support/browser.ts'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

async function send({ url }: RunningMillrace, values: object, token = DEMO_TOKEN): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/${token}/telemetry`, {
    method: 'POST',
    headers,
    body: JSON.stringify(values),
  })
  assert.equal(answer.status, 200)
}

seen('who starts at the first page logs in, opens a device and sees its values come', async (browser, running) => {
  await send(running, { temperature: 20, note: 'first' })
  await browser.open(running.url)
  await (await browser.named('Log in')).click()
  await browser.sees('E-mail')
  await logIn(browser, running)
  await (await browser.named('Demo Thermometer')).click()
  await browser.sees('Live.')
  await browser.sees(/temperature\s+20\b/)
  await send(running, { temperature: 21.5 })
  await browser.sees(/temperature\s+21\.5/)
  const plot = await browser.find('svg[role=img]')
  assert.match(await plot.label(), /^temperature: 2 points, from 20 to 21.5, last 21.5$/)
  await (await browser.named('How it sends')).click()
  await browser.sees(/curl .*DEMO_THERMOMETER/)
  await (await browser.named('Attributes')).click()
  await browser.sees(/active\s+server\s+(true|false)/)
})

seen('a device that begins to send becomes active on the pages that show it', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Sleeper', 'SLEEPER')
  await logIn(browser, running)
  await browser.sees(/Sleeper\s+default\s+inactive/)
  const list = String(await browser.run('return location.href'))
  await browser.open(`${running.url}/devices/${id}`)
  await browser.sees('default · inactive')
  await browser.sees('Live.')
  await send(running, { temperature: 20 }, 'SLEEPER')
  await browser.sees('default · active')
  await (await browser.named('Settings')).click()
  await (await browser.find('input[name=label]')).type('Hall')
  await (await browser.named('Save')).click()
  await browser.sees('default · Hall · active')
  await browser.open(list)
  await browser.sees(/Sleeper\s+Hall\s+default\s+active/)
  // In a narrow place, with the focus on a link that is out of sight.
  await browser.run(`
    const region = document.querySelector('[role=region]')
    region.parentElement.style.width = '200px'
    document.body.style.paddingTop = '3000px'
    region.querySelector('a').focus()
    region.scrollLeft = 40
    scrollTo(0, 0)
    window.told = 0
    const hears = new MutationObserver(() => window.told++)
    hears.observe(document.querySelector('main [role=status]'), { childList: true, attributes: true })`)
  // As if it had been silent for long.
  await rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/attributes/SERVER_SCOPE`, { active: false })
  await browser.sees(/Sleeper\s+Hall\s+default\s+inactive/)
  const left = "document.querySelector('[role=region]').scrollLeft"
  assert.deepEqual(await browser.run(`return [window.told, ${left}, scrollY, document.activeElement.tagName]`), [
    0,
    40,
    0,
    'A',
  ])
})

seen(
  'a wrong password is said, and a login leads to the page that was asked for',
  async (browser, running) => {
    await browser.open(`${running.url}/account`)
    await browser.sees('Forgot your password')
    assert.equal(await browser.path(), '/login')
    const asked = String(await browser.run('return location.search'))
    await logIn(browser, running, { ...DEMO_TENANT, password: 'wrong' }, `/login${asked}`)
    await browser.sees('Invalid username or password')
    const alert = await browser.find('[role=alert]')
    assert.equal(await alert.text(), 'Invalid username or password')
    await browser.run("document.querySelector('input[name=password]').value = ''")
    await (await browser.find('input[name=password]')).type(`${DEMO_TENANT.password}${KEYS.enter}`)
    await browser.sees('Change the password')
    assert.equal(await browser.path(), '/account')
  },
  { complaints: [/api\/auth\/login - .* 401/] },
)

seen('a login leads to no other host', async (browser, running) => {
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2F%2Fevil.example%2F')
  await browser.sees('1 to')
  assert.equal(await browser.path(), '/devices')
})

seen('the keyboard alone reaches everything, in the order of the page', async (browser, running) => {
  await browser.open(`${running.url}/login`)
  await browser.find('input[name=username]')
  await browser.press(DEMO_TENANT.username + KEYS.tab + DEMO_TENANT.password + KEYS.enter)
  await browser.sees('1 to')
  const heard: string[] = []
  for (let index = 0; index < 12; index++) {
    await browser.press(KEYS.tab)
    const at = await browser.focused()
    heard.push(`${await at.role()} ${await at.label()}`)
  }
  const wanted = [
    'link Devices',
    'link Account',
    'button Log out',
    'searchbox Search',
    'region Devices',
    'link Demo Thermometer',
  ]
  const places = wanted.map((name) => heard.indexOf(name))
  assert.ok(!places.includes(-1), heard.join(', '))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
})

seen('a thousand devices are searched and paged by the server', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  for (let begin = 0; begin < 1000; begin += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const number = String(begin + index).padStart(4, '0')
        return rest.createDevice(`Fleet ${number}`, `FLEET_${number}`)
      }),
    )
  await logIn(browser, running)
  await (await browser.find('input[type=search]')).type('Fleet')
  await browser.sees('1 to 20 of 1,000')
  await (await browser.named('Next')).click()
  await browser.sees('21 to 40 of 1,000')
  assert.equal(await (await browser.focused()).text(), 'Next')
  await (await browser.named('Fleet 0020')).click()
  await browser.sees('Nothing was sent yet')
  await browser.back()
  await browser.sees('21 to 40 of 1,000')
  await (await browser.find('input[type=search]')).type(' 0999')
  await browser.sees('1 to 1 of 1')
})

seen(
  'a session that was withdrawn elsewhere ends with a word, and goes on where it was',
  async (browser, running) => {
    // Where nothing is read again and again: that would end it first.
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fassets')
    await browser.sees(/There are no assets|1 to/)
    const tokens = "JSON.parse(localStorage.getItem('millrace.tokens'))"
    const token = String(await browser.run(`return ${tokens}.token`))
    const headers = { 'X-Authorization': `Bearer ${token}` }
    assert.equal((await fetch(`${running.url}/api/auth/logout`, { method: 'POST', headers })).status, 200)
    await (await browser.named('Account')).click()
    await browser.sees('Your session has ended')
    await (await browser.find('input[name=username]')).type(DEMO_TENANT.username)
    await (await browser.find('input[name=password]')).type(DEMO_TENANT.password + KEYS.enter)
    await browser.sees('Change the password')
  },
  { complaints: [/ 401 /] },
)

for (const place of ['list', 'device'] as const)
  seen(
    `a session that was withdrawn elsewhere ends on the page that is open too (${place})`,
    async (browser, running) => {
      await logIn(browser, running, DEMO_TENANT, place === 'list' ? '/login?next=%2Fassets' : '/login')
      await browser.sees(/There are no assets|1 to/)
      if (place === 'device') {
        await (await browser.find('input[type=search]')).type('Demo')
        // Until the list is made anew the link is one that goes.
        await until(async () => (await browser.run("return location.search.includes('search=Demo')")) === true)
        await (await browser.named('Demo Thermometer')).click()
        await browser.sees('Live.')
      }
      const token = String(await browser.run("return JSON.parse(localStorage.getItem('millrace.tokens')).token"))
      const headers = { 'X-Authorization': `Bearer ${token}` }
      assert.equal((await fetch(`${running.url}/api/auth/logout`, { method: 'POST', headers })).status, 200)
      if (place === 'list') await (await browser.find('input[type=search]')).type('D')
      await browser.sees('Your session has ended')
    },
    { complaints: [/ 401 /] },
  )

seen(
  'who logs out is not told that the session has ended, whatever the page reads meanwhile',
  async (browser, running) => {
    await logIn(browser, running)
    await browser.sees('1 to')
    const token = String(await browser.run("return JSON.parse(localStorage.getItem('millrace.tokens')).token"))
    // The server is done with it; its answer is on its way.
    await browser.run(`
      const real = fetch
      window.fetch = async (path, how) => {
        if (path === '/api/auth/logout') await new Promise((resolve) => (window.letGo = resolve))
        const answer = await real(path, how)
        if (answer.status === 401) window.refusals = (window.refusals ?? 0) + 1
        return answer
      }`)
    await (await browser.named('Log out')).click()
    const headers = { 'X-Authorization': `Bearer ${token}` }
    assert.equal((await fetch(`${running.url}/api/auth/logout`, { method: 'POST', headers })).status, 200)
    // A call of the page, and the one that asks whether the session goes on.
    await until(async () => (await browser.run('return window.refusals >= 2')) === true)
    await browser.run('letGo()')
    await browser.sees('Forgot your password')
    assert.equal(await browser.run('return location.search'), '')
  },
  { complaints: [/ 401 /] },
)

seen(
  'a page shows nothing more once another tab has logged out, or when the browser brings it back',
  async (browser, running) => {
    await logIn(browser, running)
    await browser.sees('1 to')
    await browser.run(`
    document.querySelector('main').replaceChildren('What was')
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await browser.sees('1 to')
    // What the browser tells all other tabs.
    await browser.run(`
    localStorage.removeItem('millrace.tokens')
    dispatchEvent(new StorageEvent('storage', { key: 'millrace.tokens' }))`)
    await browser.sees('Forgot your password')
  },
)

seen('a page goes on as whoever another tab has logged in', async (browser, running) => {
  await logIn(browser, running)
  await browser.sees('1 to')
  await browser.run(`
    const how = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '${JSON.stringify(DEMO_CUSTOMER)}' }
    return fetch('/api/auth/login', how)
      .then((answer) => answer.json())
      .then(({ token, refreshToken }) => {
        localStorage.setItem('millrace.tokens', JSON.stringify({ token, refreshToken }))
        // What the browser tells all other tabs.
        dispatchEvent(new StorageEvent('storage', { key: 'millrace.tokens' }))
      })`)
  await browser.sees(DEMO_CUSTOMER.username)
})

seen('keys and values are shown as they are, however odd or long', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.createDevice('Odd', 'ODD')
  const ts = Date.now() - 3_600_000
  await send(running, { ts, values: { constructor: 5, 'odd, key': '<img src=x>', long: 'x'.repeat(1_000_000) } }, 'ODD')
  await logIn(browser, running)
  await (await browser.find('input[type=search]')).type('Odd')
  await (await browser.named('Odd')).click()
  await browser.sees(/odd, key\s+<img src=x>/)
  await browser.sees(/constructor\s+5/)
  await browser.sees('1,000,000 letters')
  // A key that every object has: its history is empty, not that object's own.
  await browser.sees('No numbers in this time.')
  assert.equal(await browser.run("return document.querySelectorAll('main img').length"), 0)
  // Commas part keys elsewhere.
  await send(running, { ts: Date.now(), values: { 'odd, key': 7 } }, 'ODD')
  await browser.sees(/odd, key\s+7/)
  await browser.run(`
    const choice = document.querySelector('select[name=key]')
    choice.value = 'odd, key'
    choice.dispatchEvent(new Event('change'))`)
  await browser.find('svg[aria-label^="odd, key: 1 points"]')
})

seen('a history that can not be read is said until it is read', async (browser, running) => {
  await send(running, { temperature: 20 })
  await logIn(browser, running)
  await (await browser.find('input[type=search]')).type('Demo')
  await (await browser.named('Demo Thermometer')).click()
  await browser.find('svg[role=img]')
  await browser.run(`
    const asked = fetch
    window.fetch = (path, how) => /values.timeseries/.test(path) ? Promise.reject(new TypeError()) : asked(path, how)`)
  await browser.choose('select[name=span]', 'Last day')
  await browser.sees('The server does not answer')
  await send(running, { temperature: 20.5 })
  await browser.sees(/temperature\s+20\.5/)
  await browser.run('return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await browser.sees('The server does not answer')
})

seen(
  'a token that is too old is renewed without a word',
  async (browser, running) => {
    await logIn(browser, running)
    await browser.sees('1 to')
    // Signed by nobody: the server answers as for one that has expired.
    await browser.run(`
    const tokens = JSON.parse(localStorage.getItem('millrace.tokens'))
    localStorage.setItem('millrace.tokens', JSON.stringify({ ...tokens, token: tokens.token.slice(0, -4) + 'AAAA' }))`)
    await browser.reload()
    await browser.sees('1 to')
  },
  { complaints: [/ 401 /] },
)

seen(
  'a new tenant begins with a link by which its administrator comes in',
  async (browser, running) => {
    await logIn(browser, running, DEMO_SYSADMIN)
    await (await browser.named('Add a tenant')).click()
    await (await browser.find('input[name=title]')).type('Mill Road')
    await (await browser.find('input[name=email]')).type('eve@mill.example')
    await (await browser.named('Add the tenant')).click()
    const link = /http:\S+activateToken=\S+/.exec(await browser.sees('activateToken='))?.[0] ?? ''
    await (await browser.named('Log out')).click()
    await browser.sees('Forgot your password')
    await browser.open(link)
    await browser.find('input[name=password]:focus')
    await browser.press(`secret1${KEYS.tab}secret1${KEYS.enter}`)
    await browser.sees('The password is set')
    await (await browser.named('Log in')).click()
    await logIn(browser, running, { username: 'eve@mill.example', password: 'secret1' })
    await browser.sees('There are no devices: "Add a device" makes one')
    await (await browser.named('Add a device')).click()
    await (await browser.find('input[name=name]')).type(`Wheel${KEYS.enter}`)
    await browser.sees('Nothing was sent yet')
    // The link was used: a person reads so, where a program gets the bare status.
    await browser.open(link)
    await browser.sees('The link is not known')
  },
  { complaints: [/ 409 /] },
)

seen('who uses the keyboard skips the row of pages', async (browser, running) => {
  await logIn(browser, running)
  await browser.sees('1 to')
  await browser.press(KEYS.tab)
  assert.equal(await (await browser.focused()).text(), 'Skip the row of pages')
  await browser.press(KEYS.enter + KEYS.tab)
  assert.equal(await (await browser.focused()).role(), 'searchbox')
})

seen('an alarm is acknowledged and cleared, and the focus stays on the page', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Boiler', 'BOILER')
  const originator = { entityType: 'DEVICE', id }
  await rest.expect('POST', '/api/alarm', { type: 'Too hot', severity: 'CRITICAL', originator })
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Falarms')
  await browser.sees(/Too hot\s+critical\s+Boiler\s+active, not acknowledged/)
  await (await browser.find('[aria-label="Acknowledge: Too hot of Boiler"]')).click()
  await browser.sees(/active, acknowledged/)
  assert.equal(await (await browser.focused()).label(), 'Look again')
  await (await browser.find('[aria-label="Clear: Too hot of Boiler"]')).click()
  await browser.sees('No alarms.')
  await (await browser.find('select')).type('Cleared')
  await browser.sees(/Too hot\s+critical\s+Boiler\s+cleared, acknowledged/)
})

seen('an alarm that comes while the page is open is shown', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Saw', 'SAW')
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Falarms')
  await browser.sees('Show')
  const originator = { entityType: 'DEVICE', id }
  await rest.expect('POST', '/api/alarm', { type: 'Too loud', severity: 'MINOR', originator })
  await browser.sees(/Too loud\s+minor\s+Saw/)
  await browser.open(`${running.url}/devices/${id}`)
  await browser.find('main:not([aria-busy])')
  await browser.run("[...document.querySelectorAll('summary')].find((each) => each.textContent === 'Alarms').click()")
  await browser.sees(/Too loud\s+minor\s+Saw/)
  await rest.expect('POST', '/api/alarm', { type: 'Too blunt', severity: 'MINOR', originator })
  await browser.sees(/Too blunt\s+minor\s+Saw/)
})

seen(
  'a customer user sees the own devices, and another password is chosen',
  async (browser, running) => {
    await logIn(browser, running, DEMO_CUSTOMER)
    await browser.sees('1 to 1 of 1')
    await (await browser.named('Account')).click()
    await browser.sees('Change the password')
    const fields = ['[autocomplete=current-password]', '[autocomplete=new-password]', 'label:nth-of-type(4) input']
    const fill = async (...values: string[]) => {
      for (const [index, css] of fields.entries()) {
        await browser.run(`document.querySelector(${JSON.stringify(css)}).value = ''`)
        await (await browser.find(css)).type(values[index] ?? '')
      }
      await (await browser.named('Change the password')).click()
    }
    await fill('customer', 'one-two', 'one-three')
    await browser.sees('The new passwords are not the same')
    await fill('wrong', 'one-two', 'one-two')
    await browser.sees("Current password doesn't match!")
    await fill('customer', 'one-two', 'one-two')
    await browser.sees('The password is changed')
    await (await browser.named('Log out')).click()
    await logIn(browser, running, { ...DEMO_CUSTOMER, password: 'one-two' })
    await browser.sees('1 to 1 of 1')
  },
  { complaints: [/ 400 /], width: 400, height: 800 },
)

seen(
  'a narrow window and dark colours cut nothing off',
  async (browser, running) => {
    await send(running, { temperature: 22, ['a-key-that-is-' + 'very-'.repeat(10) + 'long']: 'x'.repeat(200) })
    await logIn(browser, running)
    await (await browser.find('input[type=search]')).type('Demo')
    await (await browser.named('Demo Thermometer')).click()
    await browser.find('svg[role=img]')
    const [inside, window] = (await browser.run(
      'return [document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )) as [number, number]
    assert.ok(inside <= window, `${inside} in ${window}`)
    assert.equal(await browser.run("return matchMedia('(prefers-color-scheme: dark)').matches"), true)
  },
  { width: 400, height: 800, colours: 'dark' },
)
