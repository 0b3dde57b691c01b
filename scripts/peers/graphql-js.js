// graphql-js behind the lines of README.md.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const graphql = require('graphql');

const folder = process.argv[2];
const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
const data = JSON.parse(read('data.json'));
const schema = graphql.buildSchema(read('schema.graphql'));
const query = read('query.graphql');
const introspection = read('introspection.graphql');
const large = { operations: read('large-operations.graphql'), schema: read('large-schema.graphql') };

// Default resolvers call these with the arguments; everything else is a property.
const topic = { ...data.topic, messages: ({ limit }) => data.messages.slice(0, limit) };
const rootValue = { topics: ({ ids }) => ids.map(() => topic) };

function executing(document, variables) {
    const variableValues = variables ? JSON.parse(read(variables)) : {};
    return () => JSON.stringify(graphql.execute({ schema, document, rootValue, variableValues }));
}

function wholeRequest() {
    const variableValues = JSON.parse(read('variables-20.json'));
    return () => {
        const document = graphql.parse(query);
        const errors = graphql.validate(schema, document);
        if (errors.length > 0) throw errors[0];
        return JSON.stringify(graphql.execute({ schema, document, rootValue, variableValues }));
    };
}

// What a row does; some rows answer.
const rows = {
    'parse-operations': () => () => graphql.parse(large.operations),
    'parse-schema': () => () => graphql.parse(large.schema),
    'parse-query': () => () => graphql.parse(query),
    'validate-query': () => {
        const document = graphql.parse(query);
        return () => graphql.validate(schema, document);
    },
    'parse-and-validate': () => () => graphql.validate(schema, graphql.parse(query)),
    'execute-20': () => executing(graphql.parse(query), 'variables-20.json'),
    'execute-200': () => executing(graphql.parse(query), 'variables-200.json'),
    introspection: () => executing(graphql.parse(introspection)),
    'whole-request': wholeRequest,
};

const now = () => Number(process.hrtime.bigint()) / 1e9;

// All threads of the process: also those that compile and collect.
function cpu() {
    const used = process.cpuUsage();
    return (used.user + used.system) / 1e6;
}

function peakMemory() {
    const line = /^VmHWM:\s+(\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'));
    return line ? Number(line[1]) * 1024 : 0;
}

function measure(request) {
    const operation = rows[request.row]();
    const answer = operation();
    try { fs.writeFileSync('/proc/self/clear_refs', '5'); } catch { /* The peak is then that of the whole run. */ }
    let batch = 1;
    function repeat(seconds) {
        let operations = 0;
        const start = cpu();
        do {
            const began = cpu();
            for (let index = 0; index < batch; index++) operation();
            operations += batch;
            if (cpu() - began < 0.001) batch *= 2;
        } while (cpu() - start < seconds);
        return operations;
    }
    repeat(request.warmUpSeconds);
    const result = { row: request.row, cpuMicroseconds: [], operations: 0 };
    const [start, startCPU] = [now(), cpu()];
    const slowSeconds = 2 * request.roundSeconds * request.rounds;
    for (let round = 0; round < request.rounds; round++) {
        if (round >= 3 && cpu() - startCPU > slowSeconds) break;
        const before = cpu();
        const operations = repeat(request.roundSeconds);
        result.cpuMicroseconds.push(((cpu() - before) * 1e6) / operations);
        result.operations += operations;
    }
    result.seconds = now() - start;
    result.memoryBytes = peakMemory();
    if (typeof answer === 'string') {
        result.answer = `${request.row}.graphql-js.json`;
        fs.writeFileSync(path.join(folder, result.answer), answer);
    } else if (answer.definitions) {
        result.definitions = answer.definitions.length;
    }
    return result;
}

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ name: `graphql-js ${graphql.version} on node ${process.versions.node}` });
readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const request = JSON.parse(line);
    say(rows[request.row] ? measure(request) : { row: request.row, unsupported: 'it has no such thing' });
});
