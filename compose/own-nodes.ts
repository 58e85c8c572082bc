/**
 * The rule nodes of this process: the catalogue, and what the operator put into `RULE_NODES_DIR`. Only who can write there can add one: its code runs
 * in this process with all its rights.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Config } from '../config/settings.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import { catalogue } from '../nodes/catalogue.ts'
import { lineOf, OwnNodeErrors, ownNodesOf, withOwnNodes, type OwnNode } from '../nodes/own-nodes.ts'

const MODULE = /\.(js|mjs|ts|mts)$/
const NO_MODULE = /\.(test|d)\.[a-z]+$/
const DESCRIPTION = z.looseObject({ main: z.string().min(1) })

/** Throws `own-nodes.UNUSABLE`: one sentence with the file and what is wrong. */
export async function openCatalogue({ ruleNodesDir }: Pick<Config, 'ruleNodesDir'>): Promise<NodeCatalogue> {
  if (ruleNodesDir === undefined) return catalogue
  const own: OwnNode[] = []
  for (const file of await modulesIn(resolve(ruleNodesDir))) {
    for (const definition of await ownNodesOf(await load(file), file)) own.push({ file, definition })
  }
  return withOwnNodes(catalogue, own)
}

/** In the order of their names: modules, and the `main` of each package. What lies beside them and is neither is not looked at. */
async function modulesIn(folder: string): Promise<readonly string[]> {
  const modules: string[] = []
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw OwnNodeErrors.UNUSABLE({ file: folder, reason: lineOf(error) }, error)
  })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (MODULE.test(entry.name)) {
      if (!NO_MODULE.test(entry.name)) modules.push(path)
    } else if ((await stat(path)).isDirectory()) modules.push(await mainOf(path))
  }
  return modules
}

async function mainOf(folder: string): Promise<string> {
  const file = join(folder, 'package.json')
  try {
    return join(folder, DESCRIPTION.parse(JSON.parse(await readFile(file, 'utf8'))).main)
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'it names no main' : lineOf(error)
    throw OwnNodeErrors.UNUSABLE({ file, reason }, error)
  }
}

async function load(file: string): Promise<unknown> {
  try {
    return (await import(pathToFileURL(file).href)) as unknown
  } catch (error) {
    throw OwnNodeErrors.UNUSABLE({ file, reason: lineOf(error) }, error)
  }
}
