/** Devices from a file of comma-separated values, chosen on the page of devices. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from '../support/browser.ts'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'

const seen = consoleTests()

interface Found {
  readonly id: { readonly id: string }
}

interface Choosing {
  /** Answers its path. */
  readonly write: (name: string, content: string | Buffer) => Promise<string>
  readonly choose: (path: string) => Promise<void>
}

/** With the part of the page unfolded. */
async function choosing(
  browser: Browser,
  running: RunningMillrace,
  run: (parts: Choosing) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-csv-'))
  try {
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fdevices')
    await browser.sees('1 to')
    await (await browser.named('Import devices from a file')).click()
    const input = await browser.find('input[type=file]')
    const write = async (name: string, content: string | Buffer) => {
      await writeFile(join(folder, name), content)
      return join(folder, name)
    }
    await run({ write, choose: (path) => input.type(path) })
  } finally {
    await rm(folder, { recursive: true })
  }
}

seen(
  'devices come from a file: columns are chosen, refused lines are told with the reason, and the list has the others',
  (browser, running) =>
    choosing(browser, running, async ({ write, choose }) => {
      const rest = new RestClient(running, await login(running))
      await choose(await write('latin.csv', Buffer.from('name\nK\xfchler\n', 'latin1')))
      await browser.sees('latin.csv is not UTF-8: save it once more as "CSV UTF-8".')
      await choose(await write('empty.csv', 'name,label\n'))
      await browser.sees('empty.csv has no line below the one that names the columns.')
      await choose(await write('quote.csv', 'name,label\na,"b\nc,d\n'))
      await browser.sees('Line 2 of quote.csv has a quote that nothing ends: all behind it would be one cell.')
      const lines = [
        'Pump;Device profile;Token;Site;Remarks',
        '0 Filed;Filed;FILED_1;"Hall; east";old',
        ';;FILED_2;West;',
      ]
      await choose(await write('pumps.csv', lines.join('\r\n')))
      await browser.sees(/Site\s+Hall; east/)
      await (await browser.named('Import the file')).click()
      await browser.sees('Say which column is the name: lines are told apart by it.')
      await browser.choose('select[name=column-0]', 'name')
      await browser.choose('select[name=column-4]', 'nothing')
      await (await browser.named('Import the file')).click()
      await browser.sees('1 made, 0 changed, 1 refused.')
      await browser.sees('Line 3: Device name should be specified!')
      await browser.sees(/0 Filed\s+Filed\s+inactive/)
      const { data } = await rest.expect<{ data: Found[] }>(
        'GET',
        '/api/tenant/devices?pageSize=10&page=0&textSearch=Filed',
      )
      const keys = await rest.expect<{ key: string; value: unknown }[]>(
        'GET',
        `/api/plugins/telemetry/DEVICE/${data[0]?.id.id}/values/attributes/SERVER_SCOPE?keys=Site,Remarks`,
      )
      assert.deepEqual([data.length, keys.map(({ key, value }) => [key, value])], [1, [['Site', 'Hall; east']]])
    }),
)

seen('a file that was mended and is chosen again is read again, and its columns are as they were', (browser, running) =>
  choosing(browser, running, async ({ write, choose }) => {
    await choose(await write('pumps.csv', 'Pump;Site\n0 Again;East\n'))
    await browser.sees(/Site\s+East/)
    await browser.choose('select[name=column-0]', 'name')
    const path = await write('pumps.csv', 'Pump;Site\n0 Again;West\n')
    // As who is about to choose; the window of the system stays away.
    await browser.run(`
      const input = document.querySelector('input[type=file]')
      input.addEventListener('click', (event) => event.preventDefault(), { once: true })
      input.click()`)
    await choose(path)
    await browser.sees(/Site\s+West/)
    assert.equal(await browser.run("return document.querySelector('select[name=column-0]').value"), 'NAME')
  }),
)

seen('of two files the one that was chosen last is shown, however late the other was read', (browser, running) =>
  choosing(browser, running, async ({ write, choose }) => {
    await browser.run(`
      const real = File.prototype.text
      File.prototype.text = function () {
        if (this.name !== 'slow.csv') return real.call(this)
        return new Promise((resolve) => (window.letGo = () => real.call(this).then(resolve)))
      }`)
    await choose(await write('slow.csv', 'name,slow\nx,y\n'))
    await choose(await write('quick.csv', 'name,quick\nx,y\n'))
    await browser.find('[aria-label="What \\"quick\\" is"]')
    // What follows on the text is done before the next task.
    await browser.run('return letGo().then(() => new Promise((resolve) => setTimeout(resolve)))')
    const heads = "return [...document.querySelectorAll('form tbody th')].map((head) => head.textContent)"
    assert.deepEqual(await browser.run(heads), ['name', 'quick'])
  }),
)

seen('of very many refused lines the first are shown, and no table is read out by itself', (browser, running) =>
  choosing(browser, running, async ({ write, choose }) => {
    await choose(await write('nameless.csv', `name;Site\n${';East\n'.repeat(120)}`))
    await browser.sees(/Site\s+East/)
    await (await browser.named('Import the file')).click()
    await browser.sees('0 made, 0 changed, 120 refused.')
    await browser.sees('Line 2: Device name should be specified!')
    const found = await browser.run(`
      const tables = [...document.querySelectorAll('table')]
      const refused = tables.find(({ caption }) => caption.textContent === 'The first 100 of 120 refused lines')
      return [refused?.tBodies[0].rows.length, document.querySelectorAll('[role=status] :is(table, [role])').length]`)
    assert.deepEqual(found, [100, 0])
  }),
)
