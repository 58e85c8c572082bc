/** The arrows between folders (docs/internals/architecture.md): model <- engine, storage <- services <- nodes, transports, api <- main. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$|/contract\\.ts$|testkit' },
  to: {
    path: '^(model|config|disk|engine|nodes|transports|storage|services|workbench|server|api|logging|clients|commands|main\\.ts|compose|test|scripts|benchmarks)',
    pathNot: allowed,
  },
})

module.exports = {
  forbidden: [
    only('model-imports-nothing', '^model/', '^model/', 'the words everybody uses depend on nobody'),
    only(
      'config-imports-model',
      '^config/',
      '^(config|model)/|^transports/catalogue\\.ts',
      'settings know the words, and the catalogue of protocols, each with settings of its own',
    ),
    only('logging-imports-model', '^logging/', '^(logging|model)/', 'the log knows only the words'),
    only('server-imports-model', '^server/', '^(server|model)/', 'the HTTP server knows no API'),
    only('disk-imports-model', '^disk/', '^(disk|model)/', 'a log on disk knows nothing of what stands in it'),
    only('engine-imports-model', '^engine/', '^(engine|disk|model)/', 'what the engine needs is handed in'),
    only('storage-imports-model', '^storage/', '^(storage|disk|model)/', 'a store knows no engine'),
    only('services-import-below', '^services/', '^(services|engine|storage|model)/', 'services know no protocol'),
    only(
      'nodes-know-node-context',
      '^nodes/',
      '^(nodes/|model/|engine/rulechain/(node|capabilities)\\.ts|engine/rulechain/capabilities/|engine/script/(script|errors|argument-names)\\.ts)',
      'a rule node knows NodeContext, its capabilities and nothing else',
    ),
    only(
      'transports-know-the-gateway',
      '^transports/',
      '^(transports/|model/|server/|config/define\\.ts|engine/device/gateway\\.ts|engine/link/link\\.ts)',
      'a transport knows DeviceGateway, how a setting is declared, and nothing else',
    ),
    only(
      'api-knows-services',
      '^api/',
      '^(api|services|server|model)/|^engine/(subscriptions/change|script/script|device/gateway|rulechain/node)\\.ts|^storage/timeseries/store\\.ts',
      'the REST layer knows services, not SQL',
    ),
    only(
      'workbench-imports-below',
      '^workbench/',
      '^(workbench|services|engine|model)/',
      'rule chains before they run: the catalogue is handed in',
    ),
    only(
      'commands-are-clients',
      '^commands/',
      '^(commands|config|model)/|^api/console/browser/csv-header\\.js',
      'a command talks to a running Millrace over REST; a file is guessed at as the page does',
    ),
    only('client-stands-alone', '^clients/typescript/', '^clients/typescript/', 'it is copied to where no server is'),
    only('generator-reads-the-description', '^clients/generator/', '^(clients/generator|model)/', 'it knows no routes'),
    {
      name: 'no-cycle',
      severity: 'error',
      comment: 'types included: files that name each other are one file in two places',
      from: {},
      to: { circular: true },
    },
    { name: 'nobody-imports-main', severity: 'error', from: { pathNot: '^main\\.ts$' }, to: { path: '^main\\.ts$' } },
    {
      name: 'only-main-composes',
      severity: 'error',
      from: { pathNot: '^(main\\.ts|compose/|benchmarks/|test/)' },
      to: { path: '^compose/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(node_modules|\\.tools|\\.cache|ui)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
