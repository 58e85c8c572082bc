/** Relative links of the pages lead to files that exist, and to headings that are in them. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '..')
const PAGES = ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/**/*.md', 'examples/**/*.md', 'benchmarks/**/*.md']

/** Without what code shows: it may look like a link or a heading. */
function withoutCode(text: string): string {
  return text.replaceAll(/^(```+).*?^\1$/gms, '')
}

function linksOf(text: string): string[] {
  const prose = withoutCode(text).replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(\s*([^)\s]+)[^)]*\)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)].map(
    ([, target = '']) => target,
  )
}

/** As a forge names them: lower case, no punctuation, a hyphen for each space, numbered where a name comes again. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const name = shown.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
    let anchor = name
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

function brokenLinks(page: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    if (/^[a-z][a-z+.-]*:/i.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), decodeURIComponent(path))
    if (!existsSync(target)) return true
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).has(anchor)
  })
}

describe('relative links lead somewhere', () => {
  const pages = PAGES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).map((page) => join(ROOT, page))
  for (const page of pages) {
    test(relative(ROOT, page), () => assert.deepEqual(brokenLinks(page, readFileSync(page, 'utf8')), []))
  }

  test('from the README to every page of docs/', () => {
    const reached = new Set<string>()
    const reach = (page: string): void => {
      if (reached.has(page) || !page.endsWith('.md') || !existsSync(page)) return
      reached.add(page)
      for (const link of linksOf(readFileSync(page, 'utf8'))) reach(join(dirname(page), link.split('#')[0] ?? ''))
    }
    reach(join(ROOT, 'README.md'))
    const lost = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !reached.has(join(ROOT, page)))
    assert.deepEqual(lost, [])
  })

  test('pages that the code names are there', () => {
    const files = globSync('{*.ts,!(node_modules|docs)/**/*.{ts,js,mjs,service}}', { cwd: ROOT })
    const named = files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/docs\/[\w/-]+\.md/g)].map(([page]) => `${file}: ${page}`),
    )
    assert.ok(named.length >= 30, `${named.length} are named`)
    assert.deepEqual(
      named.filter((line) => !existsSync(join(ROOT, line.split(': ')[1] ?? ''))),
      [],
    )
  })

  test('of the pages that are named', () => assert.ok(pages.length >= 20, `${pages.length} pages`))

  test('a wrong file and a wrong heading are seen', () => {
    const page = join(ROOT, 'SECURITY.md')
    const text =
      '[1](#nowhere) [2](nobody.md) [3](docs/guides/queues.md#nowhere) `[4](code.md)` [5](README.md) [6](https://example.com/x)\n'
    assert.deepEqual(brokenLinks(page, text), ['#nowhere', 'nobody.md', 'docs/guides/queues.md#nowhere'])
    const headings = '# A `b`: c\n## Same\n## Same\n```\n# code\n```\n'
    assert.deepEqual([...anchorsOf(headings)], ['a-b-c', 'same', 'same-1'])
  })
})
