/** Rule chains found, made, drawn and looked into, in a real browser on the real program. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEYS } from '../support/browser.ts'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, heldFetch, logIn } from '../support/console.ts'

const seen = consoleTests()
const LIST = '/login?next=%2FruleChains'

const GRAPH = {
  firstNodeIndex: 0,
  nodes: [
    {
      type: 'org.thingsboard.rule.engine.filter.TbMsgTypeSwitchNode',
      name: 'What is it',
      configuration: { version: 0 },
      additionalInfo: { layoutX: 300, layoutY: 100 },
    },
    {
      type: 'com.example.NobodyHasIt',
      name: 'Strange',
      configuration: {},
      additionalInfo: { layoutX: 600, layoutY: 100 },
    },
  ],
  connections: [{ fromIndex: 0, toIndex: 1, type: 'Post telemetry' }],
}

async function fileOf(name: string, content: string): Promise<string> {
  const path = join(tmpdir(), `millrace-${process.pid}-${name}`)
  await writeFile(path, content)
  return path
}

seen('rule chains are found, sorted, made, made the root and deleted after a question', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  for (const name of ['Alpha', 'Beta']) await rest.expect('POST', '/api/ruleChain', { name })
  await logIn(browser, running, DEMO_TENANT, LIST)
  await browser.sees(/Alpha[^]*Beta[^]*Root Rule Chain\s+root/)
  await browser.choose('select[name=sort]', 'Name, last first')
  await browser.sees(/Root Rule Chain[^]*Beta[^]*Alpha/)
  await (await browser.find('input[type=search]')).type('Alpha')
  await browser.sees('1 to 1 of 1')
  await (await browser.find('[aria-label="Delete: Alpha"]')).click()
  await browser.sees('This can not be undone')
  const dialogs = await browser.run(
    "[...document.querySelectorAll('dialog button')].find((each) => each.textContent === 'Cancel').click(); return document.querySelectorAll('dialog').length",
  )
  assert.equal(dialogs, 0, 'what is closed is gone at once')
  await browser.sees('1 to 1 of 1')
  await (await browser.find('[aria-label="Delete: Alpha"]')).click()
  await (await browser.named('Delete it')).click()
  await browser.sees('No rule chains.')
  await browser.run(
    "const search = document.querySelector('input[type=search]'); search.value = ''; search.dispatchEvent(new Event('input'))",
  )
  await (await browser.find('[aria-label="Make root: Beta"]')).click()
  await (await browser.named('Make it the root')).click()
  await browser.sees(/Beta\s+root/)
  await (await browser.find('[aria-label="Make root: Root Rule Chain"]')).click()
  await (await browser.named('Make it the root')).click()
  await browser.sees(/Root Rule Chain\s+root/)
  await (await browser.named('Add a rule chain')).click()
  await (await browser.find('input[name=name]')).type('Gamma')
  await (await browser.named('Add the rule chain')).click()
  await browser.find('svg[role=application]')
  assert.match(await browser.path(), /^\/ruleChains\/[\w-]{36}$/)
})

seen(
  'a question that is left while its deed is under way: the list shows what came of it',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const made = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'Omega' })
    await logIn(browser, running, DEMO_TENANT, LIST)
    await (await browser.find('[aria-label="Delete: Omega"]')).click()
    await browser.run(heldFetch(`/api/ruleChain/${made.id.id}`))
    await (await browser.named('Delete it')).click()
    await browser.press(KEYS.escape)
    await browser.sees(/^(?![^]*Delete "Omega"\?)/)
    await browser.run('window.letGo()')
    await browser.sees(/^(?![^]*Omega)/)
  },
)

seen('a file is imported, or told what is wrong with it', async (browser, running) => {
  const wrong = await fileOf('wrong.json', JSON.stringify({ title: 'a dashboard', configuration: {} }))
  const right = await fileOf('right.json', JSON.stringify({ ruleChain: { name: 'From a file' }, metadata: GRAPH }))
  await logIn(browser, running, DEMO_TENANT, LIST)
  await (await browser.named('Import a file')).click()
  const file = await browser.find('input[type=file]')
  await file.type(wrong)
  await (await browser.named('Import the file')).click()
  await browser.sees('Is it the export of something else?')
  await file.type(right)
  await (await browser.named('Import the file')).click()
  await browser.sees(/From a file\s+made/)
  await browser.sees('This server has no node com.example.NobodyHasIt')
  await (await browser.named('From a file')).click()
  await browser.find('[aria-label^="Strange: unknown type com.example.NobodyHasIt"]')
})
