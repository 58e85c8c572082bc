/** Dashboards in a real browser on the real program: shown as stored, live, changed by mouse and keyboard, shared. */
import assert from 'node:assert/strict'
import type { Browser } from '../support/browser.ts'
import { KEYS } from '../support/browser.ts'
import { DEMO_CUSTOMER, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, heldFetch, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { until as untilSo } from '../support/until.ts'

interface Stored {
  readonly id: { readonly id: string }
  readonly title: string
  readonly version: number
  readonly configuration: {
    readonly widgets: Readonly<Record<string, { readonly config: { readonly title: string } }>>
    readonly states: {
      readonly default: { readonly layouts: { readonly main: { readonly widgets: Record<string, object> } } }
    }
  }
}

const seen = consoleTests()

async function send({ url }: RunningMillrace, token: string, kind: 'telemetry' | 'attributes', values: object) {
  const headers = { 'Content-Type': 'application/json' }
  const path = `${url}/api/v1/${token}/${kind}`
  assert.equal((await fetch(path, { method: 'POST', headers, body: JSON.stringify(values) })).status, 200)
}

const key = (name: string, type = 'timeseries', more: object = {}) => ({
  name,
  type,
  label: name,
  settings: {},
  ...more,
})
const of = (...dataKeys: object[]) => ({ type: 'entity', entityAliasId: 'x', dataKeys })

/** A dashboard of one device, its widgets one below the other. */
async function makeBoard(
  rest: RestClient,
  title: string,
  deviceId: string,
  kinds: readonly (readonly [fqn: string, type: string, title: string, config: object])[],
): Promise<Stored> {
  const widgets = kinds.map(([typeFullFqn, type, name, config]) => {
    const own = { title: name, useDashboardTimewindow: true, ...config }
    return { typeFullFqn, type, sizeX: 8, sizeY: 4, config: own }
  })
  const places = widgets.map((_, index) => ({ sizeX: 8, sizeY: 4, row: 4 * index, col: 0 }))
  const filter = { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: deviceId } }
  const main = { widgets: Object.fromEntries(Object.entries(places)), gridSettings: { columns: 24 } }
  return rest.expect<Stored>('POST', '/api/dashboard', {
    title,
    configuration: {
      widgets: Object.fromEntries(Object.entries(widgets)),
      states: { default: { name: 'Default', root: true, layouts: { main } } },
      entityAliases: { x: { id: 'x', alias: 'X', filter } },
      timewindow: { selectedTab: 0, realtime: { timewindowMs: 3_600_000 }, aggregation: { type: 'NONE' } },
    },
  })
}

/** Waits until the page says so; `script` answers it. */
async function until(browser: Browser, script: string, wanted: unknown): Promise<void> {
  const words = JSON.stringify(wanted)
  await browser.run(`
    const look = () => JSON.stringify((() => { ${script} })()) === ${JSON.stringify(words)}
    return new Promise((done) => {
      const timer = setInterval(() => look() && (clearInterval(timer), done(true)), 50)
    })`)
}

seen(
  'each kind of widget shows its values as they come, and one that is not drawn its name',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const id = await rest.createDevice('Kettle', 'KETTLE')
    await send(running, 'KETTLE', 'telemetry', { heat: 20.25, mode: 'slow' })
    await send(running, 'KETTLE', 'attributes', { model: 'K1' })
    await rest.expect('POST', '/api/alarm', {
      type: 'Boils',
      severity: 'MAJOR',
      originator: { entityType: 'DEVICE', id },
    })
    const board = await makeBoard(rest, 'Kitchen', id, [
      ['system.time_series_chart', 'timeseries', 'Line', { datasources: [of(key('heat'))] }],
      ['system.charts.timeseries_bars_flot', 'timeseries', 'Bars', { datasources: [of(key('heat'))] }],
      [
        'system.cards.value_card',
        'latest',
        'Card',
        { datasources: [of(key('heat', 'timeseries', { decimals: 1, units: '°C' }))] },
      ],
      ['system.cards.entities_table', 'latest', 'Table', { datasources: [of(key('mode'), key('model', 'attribute'))] }],
      [
        'system.digital_gauges.gauge_justgage',
        'latest',
        'Gauge',
        { datasources: [of(key('heat'))], settings: { maxValue: 50 } },
      ],
      ['system.cards.attributes_card', 'latest', 'Attributes', { datasources: [of(key('model', 'attribute'))] }],
      ['system.alarm_widgets.alarms_table', 'alarm', 'Alarms', { alarmSource: of() }],
      ['system.maps_v2.openstreetmap', 'latest', 'Map', { datasources: [of(key('heat'))] }],
      [
        'system.cards.html_card',
        'static',
        'Words',
        { settings: { cardHtml: '<b>Hot</b><script>document.title = 1</script>' } },
      ],
    ])
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
    await browser.sees('Live.')
    const text = await browser.sees(/Boils\s+Kettle\s+major\s+active, not acknowledged/)
    assert.match(text, /Hot/)
    await browser.sees(/20\.\d °C/)
    await browser.sees(/Kettle\s+slow\s+K1/)
    await browser.sees('"system.maps_v2.openstreetmap" is not drawn on this page')
    await browser.find('svg[aria-label^="heat: 1 points, from 20.25 to 20.25"]')
    await send(running, 'KETTLE', 'telemetry', { heat: 31.5 })
    await browser.sees('31.5 °C')
    await browser.find('svg[aria-label="heat: 2 points, from 20.25 to 31.5, last 31.5"]')
    await browser.find('[role=meter][aria-valuenow="31.5"][aria-valuemax="50"]')
    await (await browser.find('[aria-label="As a table: Line"]')).click()
    await browser.sees(/31\.5\s+.*20\.25/s)
    await (await browser.find('[aria-label="Acknowledge: Boils of Kettle"]')).click()
    await browser.sees('active, acknowledged')
    // Put together by the server: both values lie in the last of its steps, which is hours long.
    await browser.choose('select[name=window]', 'Last 30 days')
    await browser.choose('select[name=agg]', 'Count')
    await browser.find('[aria-label="Bars"] svg[aria-label$="last 2"]')
  },
)

seen(
  'a dashboard is made, filled and arranged by the keyboard, undone, saved, and found again',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    await rest.createDevice('Mixer', 'MIXER')
    await send(running, 'MIXER', 'telemetry', { speed: 7, load: 3 })
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fdashboards')
    await (await browser.named('Add a dashboard')).click()
    await (await browser.find('input[name=title]')).type(`Bakery${KEYS.enter}`)
    await (await browser.named('Edit')).click()
    await (await browser.named('Add a widget')).click()
    await (await browser.find('dialog input[name=title]')).type('Speed')
    await (await browser.find('dialog input[name=device]')).type('Mixer')
    await (await browser.find('input[value="timeseries:speed"]')).click()
    await (await browser.named('Add')).click()
    await browser.find('svg[aria-label="speed: 1 points, from 7 to 7, last 7"]')
    await browser.run(`document.querySelector('[aria-label^="Move Speed"]').focus()`)
    await browser.press(KEYS.right + KEYS.right + KEYS.down)
    await browser.chord(KEYS.shift, KEYS.left)
    const spoken = "return document.querySelector('.spoken').textContent"
    assert.equal(await browser.run(spoken), 'Column 3, row 2, 11 wide, 6 high.')
    assert.match(await (await browser.focused()).label(), /^Move Speed/)
    await (await browser.find('[aria-label="Remove Speed"]')).click()
    assert.equal(await (await browser.focused()).text(), 'Undo')
    await browser.press(KEYS.enter)
    await browser.find('section[aria-label=Speed]')
    await (await browser.named('Save')).click()
    await browser.sees('Saved.')
    const page = await rest.expect<{ data: Stored[] }>(
      'GET',
      '/api/tenant/dashboards?pageSize=10&page=0&textSearch=Bakery',
    )
    const stored = await rest.expect<Stored>('GET', `/api/dashboard/${page.data[0]?.id.id}`)
    const places = Object.values(stored.configuration.states.default.layouts.main.widgets)
    assert.deepEqual(places, [{ sizeX: 11, sizeY: 6, row: 1, col: 2 }])
  },
)

seen(
  'the mouse moves a widget and makes it larger; what another has saved meanwhile is not written over',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const id = await rest.createDevice('Oven', 'OVEN')
    await send(running, 'OVEN', 'telemetry', { heat: 200 })
    const card = (name: string) =>
      ['system.cards.value_card', 'latest', name, { datasources: [of(key('heat'))] }] as const
    const board = await makeBoard(rest, 'Ovens', id, [card('One'), card('Two')])
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
    await (await browser.named('Edit')).click()
    const cell = Number(await browser.run("return (document.querySelector('.board').clientWidth + 10) / 24"))
    await browser.drag('[aria-label^="Move Two"]', 10 * cell, -4 * 54)
    await until(browser, `return document.querySelector('section[aria-label=Two]').style.gridRowStart`, '1')
    await browser.drag('section[aria-label=One] .corner', 2 * cell, 54)
    await until(browser, `return document.querySelector('section[aria-label=One]').style.gridColumnEnd`, 'span 10')
    await rest.expect('POST', '/api/dashboard', { ...board, title: 'Ovens of others' })
    await (await browser.named('Save')).click()
    await browser.sees('somebody else has saved this dashboard')
    await (await browser.named('Save mine over theirs')).click()
    await browser.sees('Saved.')
    const stored = await rest.expect<Stored>('GET', `/api/dashboard/${board.id.id}`)
    assert.deepEqual(stored.configuration.states.default.layouts.main.widgets, {
      '0': { sizeX: 10, sizeY: 5, row: 0, col: 0 },
      '1': { sizeX: 8, sizeY: 4, row: 0, col: 10 },
    })
  },
  { complaints: [/ 409 /] },
)

seen('a dashboard of texts alone waits for no connection', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Wall', 'WALL')
  const board = await makeBoard(rest, 'Notes', id, [
    ['system.cards.html_card', 'static', 'Note', { settings: { cardHtml: '<b>Wipe your feet</b>' } }],
  ])
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
  assert.doesNotMatch(await browser.sees('Wipe your feet'), /Connecting/)
})

seen('what is changed while a save is under way is kept, and saved by the next', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Mill', 'MILL')
  const board = await makeBoard(rest, 'Mills', id, [
    ['system.cards.value_card', 'latest', 'One', { datasources: [of(key('heat'))] }],
  ])
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
  await (await browser.named('Edit')).click()
  await browser.find('[aria-label^="Move One"]')
  await browser.run(heldFetch('/api/dashboard'))
  await (await browser.named('Save')).click()
  await browser.run(`document.querySelector('[aria-label^="Move One"]').focus()`)
  await browser.press(KEYS.down)
  await browser.run('window.letGo()')
  await browser.sees('Saved.')
  await (await browser.named('Save')).click()
  await browser.run('window.letGo()')
  await browser.sees('Saved.')
  const stored = await rest.expect<Stored>('GET', `/api/dashboard/${board.id.id}`)
  assert.deepEqual(stored.configuration.states.default.layouts.main.widgets, {
    '0': { sizeX: 8, sizeY: 4, row: 1, col: 0 },
  })
})

seen('who has the link of a public dashboard sees it without a login, and keeps the own', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const id = await rest.createDevice('Fountain', 'FOUNTAIN')
  await send(running, 'FOUNTAIN', 'telemetry', { flow: 12 })
  await rest.expect('POST', `/api/customer/public/device/${id}`)
  const board = await makeBoard(rest, 'Park', id, [
    ['system.cards.value_card', 'latest', 'Flow', { datasources: [of(key('flow'))] }],
  ])
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fdashboards')
  await (await browser.find('[aria-label="Settings of Park"]')).click()
  await (await browser.named('Make it public')).click()
  const link = /http:\S+publicId=\S+/.exec(await browser.sees(/publicId=\S+/))?.[0] ?? ''
  const own = await browser.run("return localStorage.getItem('millrace.tokens')")
  await browser.open(link)
  await browser.sees('Live.')
  await browser.sees(/flow\s+12\s/)
  assert.equal(await browser.run("return document.querySelectorAll('nav a').length"), 0)
  assert.equal(await browser.run("return localStorage.getItem('millrace.tokens')"), own)
  assert.equal(board.title, 'Park')
})

seen(
  'a customer user sees the dashboards that are given to the customer, and can not change them',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const id = await rest.createDevice('Lamp', 'LAMP')
    const board = await makeBoard(rest, 'Street', id, [
      ['system.cards.value_card', 'latest', 'Light', { datasources: [of(key('lux'))] }],
    ])
    const found = await rest.expect<{ data: { id: { id: string }; title: string }[] }>(
      'GET',
      '/api/customers?pageSize=10&page=0&textSearch=Customer',
    )
    const customerId = found.data.find(({ title }) => title === 'Customer A')?.id.id ?? ''
    await rest.expect('POST', `/api/customer/${customerId}/dashboard/${board.id.id}`)
    await rest.expect('POST', `/api/customer/${customerId}/device/${id}`)
    await send(running, 'LAMP', 'telemetry', { lux: 80 })
    await logIn(browser, running, DEMO_CUSTOMER, '/login?next=%2Fdashboards')
    await (await browser.named('Street')).click()
    await browser.sees(/lux\s+80\s/)
    assert.equal(
      await browser.run("return [...document.querySelectorAll('button')].some((each) => each.textContent === 'Edit')"),
      false,
    )
    const [inside, window] = (await browser.run(
      'return [document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    )) as [number, number]
    assert.ok(inside <= window, `${inside} in ${window}`)
  },
  { width: 400, height: 800, colours: 'dark' },
)

seen(
  'a second layout stands beside the first, and its widgets are moved by keys and removed',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const deviceId = await rest.createDevice('Lathe', 'LATHE')
    await send(running, 'LATHE', 'telemetry', { speed: 7, load: 9 })
    const cards = (name: string) =>
      ['system.cards.value_card', 'latest', name, { datasources: [of(key(name))] }] as const
    const board = await makeBoard(rest, 'Two layouts', deviceId, [cards('speed'), cards('load')])
    const layout = (widgets: object) => ({ widgets, gridSettings: { columns: 24 } })
    const at = { sizeX: 12, sizeY: 4, row: 0, col: 0 }
    const layouts = { main: layout({ '0': at }), right: layout({ '1': at }) }
    const states = { default: { name: 'Default', root: true, layouts } }
    await rest.expect('POST', '/api/dashboard', { ...board, configuration: { ...board.configuration, states } })
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
    await browser.sees(/speed\s+7[^]*load\s+9/)
    const [left, right] = (await browser.run(
      "return [...document.querySelectorAll('.widget')].map((each) => each.getBoundingClientRect().left)",
    )) as [number, number]
    assert.ok(right > left + 200, `${left} ${right}`)
    await (await browser.named('Edit')).click()
    await browser.find('[aria-label^="Move load"]')
    await browser.run('document.querySelector(\'[aria-label^="Move load"]\').focus()')
    await browser.press(KEYS.right + KEYS.right)
    await (await browser.named('Save')).click()
    await browser.sees('Saved.')
    const placed = async () => {
      const stored = await rest.expect<{ configuration: { states: { default: { layouts: typeof layouts } } } }>(
        'GET',
        `/api/dashboard/${board.id.id}`,
      )
      const { main, right: second } = stored.configuration.states.default.layouts
      return [main.widgets, second.widgets]
    }
    assert.deepEqual(await placed(), [{ '0': at }, { '1': { ...at, col: 2 } }])
    await (await browser.find('[aria-label="Remove load"]')).click()
    await (await browser.named('Save')).click()
    await untilSo(async () => Object.keys((await placed())[1] ?? {}).length === 0)
  },
)

seen('a widget is added where browsers do not count the page as secure, as over HTTP', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.createDevice('Kiln', 'KILN')
  await send(running, 'KILN', 'telemetry', { heat: 7 })
  const board = await rest.expect<Stored>('POST', '/api/dashboard', { title: 'Kilns', configuration: {} })
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdashboards%2F${board.id.id}`)
  const edit = await browser.named('Edit')
  await browser.run('delete Crypto.prototype.randomUUID')
  await edit.click()
  await (await browser.named('Add a widget')).click()
  await (await browser.find('dialog input[name=title]')).type('Heat')
  await (await browser.find('dialog input[name=device]')).type('Kiln')
  await (await browser.find('input[value="timeseries:heat"]')).click()
  await (await browser.named('Add')).click()
  await browser.find('svg[aria-label="heat: 1 points, from 7 to 7, last 7"]')
  await (await browser.named('Save')).click()
  await browser.sees('Saved.')
  const { configuration } = await rest.expect<Stored>('GET', `/api/dashboard/${board.id.id}`)
  const [id = ''] = Object.keys(configuration.widgets)
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
