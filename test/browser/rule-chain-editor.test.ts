/** A rule chain drawn by pointer and by keyboard, saved beside somebody else, and looked into, in a real browser on the real program. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { KEYS, type Browser } from '../support/browser.ts'
import { DEMO_TENANT, DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { consoleTests, heldFetch, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

const metadataShape = z.object({
  ruleChainId: z.object({ entityType: z.string(), id: z.string() }),
  version: z.number(),
  firstNodeIndex: z.number().nullable(),
  nodes: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  connections: z.array(z.object({ fromIndex: z.number(), toIndex: z.number(), type: z.string() })),
})

const PACKAGE = 'org.thingsboard.rule.engine'
const node = (type: string, name: string, configuration: object, layoutX: number, layoutY = 100) => ({
  ...{ type: `${PACKAGE}.${type}`, name, configuration, additionalInfo: { layoutX, layoutY } },
})
const script = (tbelScript: string) => ({ scriptLang: 'TBEL', tbelScript, jsScript: 'return true;' })
const IS_HOT = node('filter.TbJsFilterNode', 'Is it hot', script('return msg.temperature > 30;'), 250)
const LOG = node('action.TbLogNode', 'Write it down', script('return "hot";'), 600)

/** A chain by REST, and the page of it. */
async function opened(browser: Browser, running: RunningMillrace, name: string, graph: object) {
  const rest = new RestClient(running, await login(running))
  const { id } = z
    .object({ id: z.object({ entityType: z.string(), id: z.string() }) })
    .parse(await rest.expect('POST', '/api/ruleChain', { name }))
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: id,
    firstNodeIndex: null,
    nodes: [],
    connections: [],
    ...graph,
  })
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2FruleChains%2F${id.id}`)
  await browser.find('svg[role=application]')
  const read = async () => metadataShape.parse(await rest.expect('GET', `/api/ruleChain/${id.id}/metadata`))
  return { rest, id, read }
}

/** By names: `from label to`. */
function waysIn({ nodes, connections }: z.infer<typeof metadataShape>): readonly string[] {
  const nameOf = (index: number) => nodes[index]?.name ?? ''
  return connections.map(({ fromIndex, toIndex, type }) => `${nameOf(fromIndex)} ${type} ${nameOf(toIndex)}`)
}

const of = (name: string) => `g.node[aria-label^=${JSON.stringify(name)}]`
const saved = (browser: Browser) => browser.sees('Saved: it runs so from now on.')

seen('a chain is drawn, connected and saved by the keyboard alone', async (browser, running) => {
  const { read } = await opened(browser, running, 'By keys', {})
  await browser.run(
    "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Add a node').focus()",
  )
  await browser.press(KEYS.enter)
  await browser.find('dialog input[type=search]')
  await browser.press(`message type switch${KEYS.enter}`)
  await browser.find(of('message type switch'))
  await browser.sees('Added "message type switch". Messages begin here.')
  // The name is chosen: what is typed takes its place.
  await browser.press('Sort them')
  await browser.find(of('Sort them'))
  await browser.chord(KEYS.control, 's')
  await saved(browser)
  await browser.run(
    "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Add a node').focus()",
  )
  await browser.press(KEYS.enter)
  await browser.find('dialog input[type=search]')
  await browser.press(`save time series${KEYS.enter}`)
  await browser.find(of('save time series'))
  await browser.sees('Added "save time series". Connect it, or it gets no messages.')
  await browser.press(KEYS.escape)
  await browser.find(`${of('save time series')}:focus`)
  await browser.press(KEYS.left)
  await browser.find(`${of('Sort them')}:focus`)
  await browser.press('c')
  await browser.find('aside section[aria-label=Connections] select:focus')
  await browser.press(`save${KEYS.tab}${KEYS.enter}`)
  await browser.sees('Messages of which labels')
  // The first box has the focus; the label that is likely meant is ticked.
  assert.equal(await (await browser.focused()).role(), 'checkbox')
  await browser.press(KEYS.enter)
  await browser.sees(/"Sort them" leads to "save time series" by /)
  await browser.chord(KEYS.control, 's')
  await browser.find('.mark[hidden]')
  const graph = await read()
  assert.deepEqual([graph.nodes.map(({ name }) => name), graph.firstNodeIndex], [['Sort them', 'save time series'], 0])
  assert.match(waysIn(graph)[0] ?? '', /^Sort them .+ save time series$/)
  const label = await (await browser.find(of('Sort them'))).label()
  assert.match(label, /^Sort them: message type switch, Filter; messages begin here; .+ to save time series$/)
})

seen(
  'nodes are connected, moved and deleted by the pointer, and every step is taken back',
  async (browser, running) => {
    const { read } = await opened(browser, running, 'By pointer', { firstNodeIndex: 0, nodes: [IS_HOT, LOG] })
    await browser.find(of('Write it down'))
    await browser.dragTo('[data-out="input"]', '[data-node="1"]')
    await browser.sees('Messages begin at "Write it down".')
    await (await browser.named('Undo')).click()
    await browser.dragTo('[data-out="0"]', '[data-node="1"]')
    await browser.sees('Messages of which labels')
    await (await browser.find('dialog input[value=False]')).click()
    await (await browser.named('Connect')).click()
    await browser.find('[data-link="0 1"]')
    await browser.dragTo('[data-out="1"]', '[data-node="0"]')
    await browser.sees(/messages would go in a circle/)
    await browser.drag(of('Write it down'), 30, 60)
    await (await browser.named('Delete it')).click()
    await browser.sees('Undo brings it back')
    assert.equal(await browser.run("return document.querySelectorAll('g.node').length"), 1)
    await browser.chord(KEYS.control, 'z')
    await browser.find(of('Write it down'))
    await (await browser.named('Save')).click()
    await saved(browser)
    const after = await read()
    assert.deepEqual(waysIn(after), ['Is it hot False Write it down', 'Is it hot True Write it down'])
    const place = z.object({ layoutX: z.number(), layoutY: z.number() }).parse(after.nodes[1]?.['additionalInfo'])
    assert.ok(place.layoutX > 600 && place.layoutY > 100, JSON.stringify(place))
    // Over the save: the node lies where it lay, and is the same node.
    await (await browser.named('Undo')).click()
    await (await browser.named('Undo')).click()
    await browser.run(
      "document.querySelector('[data-link]') === null || (() => { throw new Error('still connected') })()",
    )
    await (await browser.named('Save')).click()
    await saved(browser)
    await browser.find('.mark[hidden]')
    const back = await read()
    assert.deepEqual([waysIn(back), back.nodes.map(({ id }) => id)], [[], after.nodes.map(({ id }) => id)])
  },
)

seen(
  'who saves behind somebody else is asked, and loses nothing',
  async (browser, running) => {
    const { rest, id, read } = await opened(browser, running, 'Two at once', { firstNodeIndex: 0, nodes: [IS_HOT] })
    await (await browser.find(of('Is it hot'))).click()
    await (await browser.find('aside input[data-path="/name"]')).type(' today')
    await browser.find(of('Is it hot today'))
    assert.equal(
      await browser.run(
        "const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented",
      ),
      true,
    )
    const theirs = await read()
    await rest.expect('POST', '/api/ruleChain/metadata', { ...theirs, nodes: [{ ...theirs.nodes[0], name: 'Theirs' }] })
    await (await browser.named('Save')).click()
    await browser.sees(/Somebody else saved this rule chain meanwhile[^]*tenant@millrace\.local saved it at/)
    await browser.sees(/They:\s+renamed "Is it hot" to "Theirs"\s+You:\s+renamed "Is it hot" to "Is it hot today"/)
    await browser.sees('Both changed "Is it hot"')
    await (await browser.named('Cancel')).click()
    await browser.sees('Not saved.')
    await browser.find(of('Is it hot today'))
    await (await browser.named('Save')).click()
    await (await browser.named('Save mine over theirs')).click()
    await saved(browser)
    assert.deepEqual(
      (await read()).nodes.map(({ name }) => name),
      ['Is it hot today'],
    )
    assert.equal(
      await browser.run(
        "const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented",
      ),
      false,
    )
    const versions = z
      .array(z.object({ id: z.string() }))
      .parse(await rest.expect('GET', `/api/ruleChain/${id.id}/versions`))
    assert.equal(versions.length, 3)
  },
  { complaints: [/ 409 /] },
)

seen('a value that is wrong says what to do, and is not saved', async (browser, running) => {
  const generator = node(
    'debug.TbMsgGeneratorNode',
    'Every second',
    { msgCount: 1, periodInSeconds: 1, originatorType: 'RULE_NODE', ...script('return {};') },
    250,
  )
  const { read } = await opened(browser, running, 'Wrong', { nodes: [{ ...generator, configurationVersion: 2 }] })
  await (await browser.find(of('Every second'))).click()
  const period = await browser.find('[data-path="/configuration/periodInSeconds"]')
  await period.type('x')
  await browser.sees('Write a whole number, such as 1.')
  await browser.run(
    "const name = document.querySelector('[data-path=\"/name\"]'); name.value = 'Renamed'; name.dispatchEvent(new Event('input'))",
  )
  await (await browser.named('Save')).click()
  await browser.sees('Not saved. "Renamed": Write a whole number, such as 1.')
  assert.equal(await (await browser.focused()).label(), 'Period')
  await browser.run(
    "const period = document.querySelector('[data-path=\"/configuration/periodInSeconds\"]'); period.value = '30'; period.dispatchEvent(new Event('input'))",
  )
  await (await browser.named('Save')).click()
  await saved(browser)
  const configuration = z.looseObject({ periodInSeconds: z.number() }).parse((await read()).nodes[0]?.['configuration'])
  assert.equal(configuration.periodInSeconds, 30)
})

seen('a script is tried out, and the line that is wrong is marked', async (browser, running) => {
  await opened(browser, running, 'Script', { firstNodeIndex: 0, nodes: [IS_HOT] })
  await (await browser.find(of('Is it hot'))).click()
  await (await browser.named('Test the script')).click()
  await (await browser.named('Run it')).click()
  await browser.sees(/It answers:\s+false/)
  await browser.run("document.querySelector('dialog textarea').value = 'var a = 1;\\nreturn (a;\\n'")
  await (await browser.named('Run it')).click()
  await browser.sees(/line 2, column \d+/)
  const marked = await browser.run(
    'const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd)',
  )
  assert.equal(marked, 'return (a;')
  await browser.run("document.querySelector('dialog textarea').value = 'return msg.temperature > 20;'")
  await (await browser.named('Run it')).click()
  await browser.sees(/It answers:\s+true/)
  await (await browser.named('Use this script')).click()
  assert.equal(
    await browser.run('return document.querySelector(\'[data-path="/configuration/tbelScript"]\').value'),
    'return msg.temperature > 20;',
  )
})

seen('a node shows how many messages it had, what went in and out, and why it failed', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const page = z
    .object({ data: z.array(z.object({ id: z.object({ id: z.string() }), root: z.boolean() })) })
    .parse(await rest.expect('GET', '/api/ruleChains?pageSize=100&page=0'))
  const root = page.data.find((chain) => chain.root)?.id.id ?? ''
  const before = metadataShape.parse(await rest.expect('GET', `/api/ruleChain/${root}/metadata`))
  const from = before.nodes.findIndex(({ type }) => type.endsWith('TbMsgTypeSwitchNode'))
  const failing = node('filter.TbJsFilterNode', 'It fails', script('return msg.nothing.is.there;'), 900, 600)
  const connection = { fromIndex: from, toIndex: before.nodes.length, type: 'Post telemetry' }
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ...before,
    nodes: [...before.nodes, { ...failing, debugSettings: { failuresEnabled: true, allEnabled: true } }],
    connections: [...before.connections, connection],
  })
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2FruleChains%2F${root}`)
  await browser.find(of('It fails'))
  await (await browser.named('Show all')).click()
  await (await browser.find(of('It fails'))).click()
  await (await browser.named('What it did')).click()
  await browser.sees('Nothing.')
  const answer = await fetch(`${running.url}/api/v1/${DEMO_TOKEN}/telemetry`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"temperature":41}',
  })
  assert.equal(answer.status, 200)
  await browser.sees(/in\s+POST_TELEMETRY_REQUEST\s+{"temperature":41}/)
  await browser.sees(/out by Failure/)
  await browser.find(`${of('It fails')} .badge`)
  await browser.sees(/Last error: .*null pointer/)
})

seen(
  'a narrow window and dark colours cut nothing off',
  async (browser, running) => {
    const long = { ...IS_HOT, name: `a name that is ${'very '.repeat(12)}long` }
    await opened(browser, running, `A chain of a ${'very '.repeat(12)}long name`, {
      firstNodeIndex: 0,
      nodes: [long, LOG],
    })
    await (await browser.find('g.node')).click()
    await browser.find('aside h2')
    for (const open of [
      '',
      "document.querySelector('dialog') ?? [...document.querySelectorAll('button')].find((each) => each.textContent === 'Test the script').click()",
    ]) {
      await browser.run(open)
      const [inside, window] = (await browser.run(
        'return [document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      )) as [number, number]
      assert.ok(inside <= window, `${inside} in ${window}`)
    }
    assert.equal(await browser.run("return matchMedia('(prefers-color-scheme: dark)').matches"), true)
  },
  { width: 400, height: 800, colours: 'dark' },
)

seen('what nodes did not start for is asked with one call, however many there are', async (browser, running) => {
  const strange = { type: 'com.example.NobodyHasIt', name: 'Strange', configuration: {} }
  const nodes = Array.from({ length: 40 }, (_, index) =>
    node(
      'action.TbLogNode',
      `Log ${index}`,
      script('return "x";'),
      250 * (index % 8),
      100 + 90 * Math.floor(index / 8),
    ),
  )
  const { rest, id } = await opened(browser, running, 'Many', {
    nodes: [...nodes, { ...strange, additionalInfo: { layoutX: 0, layoutY: 900 } }],
  })
  // A node tells a moment after the save that it did not start.
  await until(async () => (await rest.expect<unknown[]>('GET', `/api/ruleChain/${id.id}/startErrors`)).length > 0)
  await browser.reload()
  await browser.find('g.node[aria-label^="Strange"][aria-label*="last error"]')
  const asked = await browser.run(
    "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
  )
  const paths = z.array(z.string()).parse(asked)
  assert.equal(paths.filter((path) => path.endsWith('/startErrors')).length, 1)
  assert.equal(paths.filter((path) => path.startsWith('/api/events/')).length, 0)
})

seen('a save says what `chain check` says, and each finding leads to its node', async (browser, running) => {
  const SAVE = node('telemetry.TbMsgTimeseriesNode', 'Keep it', { defaultTTL: 0 }, 250)
  const BROKEN = node('filter.TbJsFilterNode', 'Broken', script('return msg.temperature >;'), 600)
  const { rest, id } = await opened(browser, running, 'Checked', { firstNodeIndex: 0, nodes: [SAVE] })
  await browser.drag(of('Keep it'), 30, 60)
  await (await browser.named('Save')).click()
  await saved(browser)
  await browser.sees(
    /Keep it runs, and not as drawn .*takes POST_TELEMETRY_REQUEST alone: .*put a message type switch before it/,
  )
  await (await browser.find('section[aria-label=Findings] button')).click()
  await browser.find(`${of('Keep it')}.selected`)
  // Behind a type switch of another chain it may be what it is; what does not compile does not run.
  const { id: other } = await rest.expect<{ id: object }>('POST', '/api/ruleChain', { name: 'Leads there' })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: other,
    firstNodeIndex: 0,
    nodes: [
      node('filter.TbMsgTypeSwitchNode', 'Sort', { version: 0 }, 100),
      node('flow.TbRuleChainInputNode', 'There', { ruleChainId: id.id, forwardMsgToDefaultRuleChain: false }, 300),
    ],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Post telemetry' }],
  })
  const findings = () => rest.expect<{ text: string }[]>('GET', `/api/ruleChain/${id.id}/findings`)
  assert.deepEqual(await findings(), [])
  const { version } = await rest.expect<{ version: number }>('GET', `/api/ruleChain/${id.id}/metadata`)
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: id,
    version,
    firstNodeIndex: 0,
    nodes: [SAVE, BROKEN],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
  const [broken, ...more] = await findings()
  assert.deepEqual([more, { ...broken, text: '' }], [[], { severity: 'error', nodeIndex: 1, text: '' }])
  assert.match(broken?.text ?? '', /line 1, column/)
})

seen('the next save waits for no check of the one before it', async (browser, running) => {
  const { id, read } = await opened(browser, running, 'Slowly checked', { firstNodeIndex: 0, nodes: [IS_HOT] })
  await browser.run(heldFetch(`/api/ruleChain/${id.id}/findings`))
  const savedAs = async (version: number) => until(async () => (await read()).version === version)
  const { version } = await read()
  await browser.drag(of('Is it hot'), 30, 60)
  await browser.chord(KEYS.control, 's')
  await savedAs(version + 1)
  await until(async () => (await browser.run('return window.letGo !== undefined')) === true)
  await browser.drag(of('Is it hot'), 30, 60)
  await browser.chord(KEYS.control, 's')
  await savedAs(version + 2)
})
