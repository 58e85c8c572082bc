/** The pages of who operates: profiles, alarms, assets, integrations, packages, failures, usage and worker pools. */
import assert from 'node:assert/strict'
import { KEYS } from '../support/browser.ts'
import { DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

interface Found {
  readonly id: { readonly entityType: string; readonly id: string }
}

seen(
  'the first half hour: a profile with an alarm rule, a device of it, a value, an alarm',
  async (browser, running) => {
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fprofiles')
    await (await browser.named('Add a device profile')).click()
    await (await browser.find('input[name=name]')).type(`Boiler${KEYS.enter}`)
    await browser.sees('Its devices speak any')
    await (await browser.named('Add an alarm rule')).click()
    await (await browser.find('input[name=alarmType]')).type('Too hot')
    await (await browser.find('input[name=key]')).type('temperature')
    await (await browser.find('input[name=limit]')).type('90')
    await (await browser.named('Add the alarm rule')).click()
    await browser.sees(/Too hot\s+major: temperature above 90/)
    await (await browser.named('Devices')).click()
    await (await browser.named('Add a device')).click()
    await browser.find('option:nth-of-type(2)')
    await browser.choose('select[name=profile]', 'Boiler')
    await (await browser.find('input[name=name]')).type(`Boiler 1${KEYS.enter}`)
    // Nothing was sent: the commands are shown without being asked for.
    const command =
      /curl \S.* (http:\S+\/api\/v1\/\w+\/telemetry)/.exec(await browser.sees(/curl .*telemetry/))?.[1] ?? ''
    await browser.sees('Copy')
    const headers = { 'Content-Type': 'application/json' }
    assert.equal((await fetch(command, { method: 'POST', headers, body: '{"temperature":95}' })).status, 200)
    await browser.sees(/temperature\s+95/)
    await (await browser.named('Alarms')).click()
    await (await browser.named('Look again')).click()
    const rest = new RestClient(running, await login(running))
    await until(async () => {
      const { data } = await rest.expect<{ data: { type: string }[] }>('GET', '/api/v2/alarms?pageSize=10&page=0')
      return data.some(({ type }) => type === 'Too hot')
    })
    await (await browser.named('Look again')).click()
    await browser.sees(/Too hot\s+major\s+Boiler 1\s+active, not acknowledged/)
  },
)

seen(
  'settings of a profile that are wrong are said, and one that is used is not deleted',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const { id } = await rest.expect<Found>('POST', '/api/deviceProfile', {
      ...{ name: 'Pumps', type: 'DEFAULT', transportType: 'MQTT', provisionType: 'DISABLED' },
    })
    await rest.expect('POST', '/api/device', { name: 'Pump 1', deviceProfileId: id })
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fprofiles%2F${id.id}`)
    await browser.find('textarea[name=data]')
    const put = (text: string) =>
      browser.run(`document.querySelector('textarea[name=data]').value = ${JSON.stringify(text)}`)
    await put('{')
    await (await browser.named('Save the settings')).click()
    await browser.sees('This is no JSON')
    await put('{"transportConfiguration":{"type":"MQTT","sparkplug":7}}')
    await (await browser.named('Save the settings')).click()
    await browser.sees('sparkplug')
    await browser.find('[role=alert]')
    await put('{"transportConfiguration":{"type":"MQTT","deviceTelemetryTopic":"pumps/+"}}')
    await (await browser.named('Save the settings')).click()
    await browser.sees('Saved: devices that are connected have it at once.')
    const stored = await rest.expect<{ profileData: object }>('GET', `/api/deviceProfile/${id.id}`)
    assert.match(JSON.stringify(stored.profileData), /pumps\/\+/)
    await (await browser.named('Delete the profile')).click()
    assert.equal(await (await browser.focused()).text(), 'No, keep it')
    await (await browser.named('Delete "Pumps" for ever')).click()
    await browser.find('dialog [role=alert]')
  },
  { complaints: [/ 400 /] },
)

seen('an asset has devices, and a device names where it stands', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.createDevice('Meter 7', 'METER_7')
  // More than are offered have its name within theirs.
  for (let other = 0; other < 51; other++) await rest.createDevice(`A Meter 7 ${other}`, `OTHER_${other}`)
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fassets')
  await (await browser.named('Add an asset')).click()
  await (await browser.find('input[name=name]')).type(`Mill${KEYS.enter}`)
  await browser.sees('It belongs to nothing')
  await (await browser.named('Add what belongs to it')).click()
  await (await browser.find('input[name=related]')).type(`Meter 7${KEYS.enter}`)
  await browser.sees(/Meter 7\s+device\s+Contains/)
  await (await browser.named('Attributes')).click()
  await (await browser.named('Set an attribute')).click()
  await (await browser.find('input[name=attributeKey]')).type('floor')
  await (await browser.find('input[name=attributeValue]')).type(`3${KEYS.enter}`)
  await browser.sees(/floor\s+server\s+3/)
  await (await browser.named('Meter 7')).click()
  await (await browser.named('Relations')).click()
  await browser.sees(/Belongs to\s+Name\s+Kind\s+Relation\s+Do\s+Mill\s+asset\s+Contains/)
  await (await browser.find('[aria-label="Take apart: Mill"]')).click()
  await (await browser.named('Take it apart from "Mill"')).click()
  await browser.sees('It belongs to nothing')
})

seen(
  'a webhook is made, its converter is tried, and what it collects and refuses is told',
  async (browser, running) => {
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fintegrations')
    await browser.sees('There are no integrations')
    await (await browser.named('Add an integration')).click()
    await (await browser.find('input[name=name]')).type(`Weather${KEYS.enter}`)
    const address = /curl -X POST (\S+)/.exec(await browser.sees('Others send here'))?.[1] ?? ''
    await (await browser.named('Try it')).click()
    await browser.sees(/It makes this[^]*"deviceName": "station 7"/)
    await browser.run("document.querySelector('textarea[name=script]').value = 'return {deviceName: ;'")
    await (await browser.named('Try it')).click()
    await browser.sees(/line 1, column \d+/)
    const send = async (body: string) => (await fetch(address, { method: 'POST', body })).status
    assert.equal(await send('{"device":"station 7","telemetry":{"temperature":21.5}}'), 200)
    assert.equal(await send('{"device":'), 400)
    await browser.sees(/running · 2 received · 1 stored · 1 failed/)
    await browser.sees(/Last error, .*JSON/)
    await (await browser.named('Integrations')).click()
    await browser.sees(/Weather\s+HTTP\s+running\s+1\s+1/)
  },
)

seen('a package is uploaded, and its profile names it', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const { id } = await rest.expect<Found>('POST', '/api/deviceProfile', {
    ...{ name: 'Valves', type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' },
  })
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fpackages')
  await browser.sees('There are no packages')
  await (await browser.named('Add a package')).click()
  await (await browser.find('input[name=title]')).type('Valve firmware')
  await (await browser.find('input[name=version]')).type('1.2')
  await browser.choose('select[name=profile]', 'Valves')
  await (await browser.named('Add the package')).click()
  await browser.sees('Choose a file, or give an address')
  await browser.run(`
    const files = new DataTransfer()
    files.items.add(new File(['0123456789'], 'valve.bin'))
    document.querySelector('input[type=file]').files = files.files`)
  await (await browser.named('Add the package')).click()
  await browser.sees(/Valve firmware\s+1\.2\s+firmware\s+Valves\s+valve\.bin, 10 bytes/)
  await browser.open(`${running.url}/profiles/${id.id}`)
  await browser.choose('select[name=firmware]', 'Valve firmware')
  await (await browser.named('Save')).click()
  await browser.sees('Saved: messages go this way from now on.')
  const stored = await rest.expect<{ firmwareId: object | null }>('GET', `/api/deviceProfile/${id.id}`)
  assert.notEqual(stored.firmwareId, null)
})

seen('an administrator sees what the tenant has, and how much it may have', async (browser, running) => {
  const system = new RestClient(running, await login(running, DEMO_SYSADMIN))
  const { data } = await system.expect<{ data: { profileData: { configuration: object } }[] }>(
    'GET',
    '/api/tenantProfiles?pageSize=10&page=0',
  )
  const [profile] = data
  assert.ok(profile !== undefined)
  const configuration = { ...profile.profileData.configuration, maxDashboards: 1 }
  await system.expect('POST', '/api/tenantProfile', {
    ...profile,
    profileData: { ...profile.profileData, configuration },
  })
  const rest = new RestClient(running, await login(running))
  await rest.expect('POST', '/api/dashboard', { title: 'The only one', configuration: {} })
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fusage')
  await browser.sees('Dashboards: 1 of 1: no more is taken.')
  const gauge = await browser.find('meter')
  assert.equal(await gauge.label(), 'Dashboards: 100 %')
})

seen('nothing failed, and who operates finds that out by the keyboard', async (browser, running) => {
  await logIn(browser, running)
  await browser.sees('1 to')
  await browser.run("document.querySelector('nav summary').focus()")
  await browser.press(KEYS.enter)
  await (await browser.named('Failed messages')).click()
  await browser.sees('Nothing waits')
  await browser.sees('None were given up.')
  await browser.run("document.querySelector('nav summary').focus()")
  await browser.press(KEYS.enter)
  await browser.named('Audit log')
  await browser.press(KEYS.escape)
  assert.equal(await browser.run("return document.querySelector('nav details').open"), false)
  assert.equal(await (await browser.focused()).text(), 'More: Failed messages')
})

seen('the system administrator sees worker pools work, and changes one', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.expect('POST', '/api/ruleChain/testScript?scriptLang=JS', {
    ...{ scriptType: 'filter', script: 'return true;', argNames: ['msg', 'metadata', 'msgType'] },
    ...{ msg: '{}', metadata: {}, msgType: 'T' },
  })
  await logIn(browser, running, DEMO_SYSADMIN, '/login?next=%2Fworkers')
  await browser.sees('Threads that work')
  await browser.find('svg[aria-label^="Threads that work"]')
  await (await browser.named('Settings of the pool')).click()
  const threads = await browser.find('input[name=threads]')
  await browser.run("document.querySelector('input[name=threads]').value = ''")
  await threads.type('3')
  await (await browser.named('Change the pool')).click()
  await browser.sees('Changed: it counts at once.')
  const system = new RestClient(running, await login(running, DEMO_SYSADMIN))
  const { pools } = await system.expect<{ pools: { settings: { threads: number } }[] }>('GET', '/api/admin/workers')
  assert.equal(pools[0]?.settings.threads, 3)
})

seen(
  'the system administrator makes a profile with a limit, and gives it to a tenant',
  async (browser, running) => {
    const system = new RestClient(running, await login(running, DEMO_SYSADMIN))
    await system.expect('POST', '/api/tenant', { title: 'Mill Street' })
    await logIn(browser, running, DEMO_SYSADMIN, '/login?next=%2FtenantProfiles')
    await (await browser.named('Add a tenant profile')).click()
    await (await browser.find('input[name=name]')).type(`Small${KEYS.enter}`)
    const devices = await browser.find('input[name=maxDevices]')
    await browser.run("document.querySelector('input[name=maxDevices]').value = ''")
    await devices.type('25')
    await (await browser.find('input[name=transportDeviceMsgRateLimit]')).type('often')
    await (await browser.named('Save')).click()
    await browser.sees("has an invalid rate limit 'often'")
    await browser.run("document.querySelector('input[name=transportDeviceMsgRateLimit]').value = '10:1'")
    await (await browser.named('Save')).click()
    await browser.sees('Saved: it counts at once.')
    await (await browser.named('Tenants')).click()
    await (await browser.find('input[type=search]')).type('Mill Street')
    await browser.sees('1 to 1 of 1')
    await (await browser.named('Mill Street')).click()
    await browser.choose('select[name=profile]', 'Small')
    await (await browser.named('Give it this profile')).click()
    await browser.sees(/Max devices\s+25/)
    await browser.sees(/Transport device msg rate limit\s+10:1/)
  },
  { complaints: [/ 400 /] },
)

seen('who sends failed messages again far down the list stays there', async (browser, running) => {
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Ffailures')
  await browser.sees('None were given up.')
  await browser.run(`
    const letters = Array.from({ length: 30 }, (_, index) => index + 1)
    const letter = (id) => ({
      ...{ id, time: 0, reason: 'reason ' + id + ' of 30', attempts: 1 },
      message: { originator: { entityType: 'TENANT', id: 'x' }, type: 'T', data: '{}', metadata: {} },
    })
    window.fetch = async (path, { method }) => {
      const { pathname, searchParams } = new URL(path, location)
      if (method === 'DELETE') letters.splice(letters.indexOf(Number(pathname.split('/').at(-1))), 1)
      const behind = letters.filter((id) => id > Number(searchParams.get('after')))
      return Response.json({ data: behind.slice(0, 20).map(letter), hasNext: behind.length > 20 })
    }
    for (const each of document.querySelectorAll('button')) if (each.textContent === 'From the first') each.click()`)
  await browser.sees('reason 20 of 30')
  await (await browser.named('Next')).click()
  await browser.sees('reason 30 of 30')
  await (await browser.find('[aria-label="Delete: 25"]')).click()
  await (await browser.named('Delete the message for ever')).click()
  await browser.find('[aria-label="Given up"]:not(:has([aria-label="Delete: 25"]))')
  assert.match(await browser.sees('reason 30 of 30'), /reason 21 of 30/)
})

seen(
  'what is typed into one form of a profile stays when another is saved, and nobody is overwritten',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const made = await rest.expect<Found>('POST', '/api/deviceProfile', {
      ...{ name: 'Fans', type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' },
    })
    const path = `/api/deviceProfile/${made.id.id}`
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fprofiles%2F${made.id.id}`)
    await browser.find('textarea[name=data]')
    await browser.run("document.querySelector('textarea[name=data]').value = '{ half typed'")
    await (await browser.find('input[name=description]')).type('Ours')
    await (await browser.named('Save')).click()
    await browser.sees('Saved: messages go this way from now on.')
    const stored = await rest.expect<object>('GET', path)
    await rest.expect('POST', '/api/deviceProfile', { ...stored, description: 'Theirs' })
    await (await browser.named('Make it the default')).click()
    await browser.run("document.querySelector('dialog .acts button:last-child').click()")
    await browser.sees('Devices made without a profile get this one.')
    assert.equal(await browser.run("return document.querySelector('textarea[name=data]').value"), '{ half typed')
    assert.equal(await (await browser.focused()).text(), 'Fans')
    await (await browser.named('Save')).click()
    await browser.find('main [role=alert]')
    assert.equal((await rest.expect<{ description: string }>('GET', path)).description, 'Theirs')
  },
  { complaints: [/ 409 /] },
)
