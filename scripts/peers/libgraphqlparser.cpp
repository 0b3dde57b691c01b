// libgraphqlparser behind the lines of README.md: it parses, and nothing else.
#include <dlfcn.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "Ast.h"
#include "GraphQLParser.h"

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double cpu() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static std::string contents(const std::string &path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

static long peakMemory() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6) * 1024;
    return 0;
}

// The number after `"name":`; the lines come from tocsin-bench, which writes them flat.
static double number(const std::string &line, const std::string &name) {
    auto place = line.find("\"" + name + "\":");
    return place == std::string::npos ? 0 : std::atof(line.c_str() + place + name.size() + 3);
}

static std::string escaped(const std::string &text) {
    std::string out;
    for (char character : text)
        if (character == '"' || character == '\\') (out += '\\') += character;
        else out += character < ' ' ? ' ' : character;
    return out;
}

static void measure(const std::string &row, const std::string &line, const std::string &text) {
    auto parse = [&](const char **error) {
        return facebook::graphql::parseStringWithExperimentalSchemaSupport(text.c_str(), error);
    };
    const char *error = nullptr;
    std::unique_ptr<facebook::graphql::ast::Node> tree = parse(&error);
    if (!tree) {
        std::cout << "{\"row\":\"" << row << "\",\"unsupported\":\"" << escaped(error) << "\"}" << std::endl;
        return;
    }
    auto *document = static_cast<facebook::graphql::ast::Document *>(tree.get());
    size_t definitions = document->getDefinitions().size();
    tree.reset();
    std::ofstream("/proc/self/clear_refs") << "5";

    long batch = 1;
    auto repeat = [&](double seconds) {
        long operations = 0;
        double start = cpu();
        do {
            double began = cpu();
            for (long index = 0; index < batch; index++) parse(nullptr);
            operations += batch;
            if (cpu() - began < 0.001) batch *= 2;
        } while (cpu() - start < seconds);
        return operations;
    };
    repeat(number(line, "warmUpSeconds"));
    std::string rounds;
    long operations = 0;
    double start = now(), startCPU = cpu();
    double slowSeconds = 2 * number(line, "roundSeconds") * number(line, "rounds");
    for (int round = 0; round < number(line, "rounds"); round++) {
        if (round >= 3 && cpu() - startCPU > slowSeconds) break;
        double before = cpu();
        long done = repeat(number(line, "roundSeconds"));
        char figure[32];
        std::snprintf(figure, sizeof figure, "%s%.4f", round ? "," : "", (cpu() - before) * 1e6 / done);
        rounds += figure;
        operations += done;
    }
    double seconds = now() - start;
    std::cout << "{\"row\":\"" << row << "\",\"cpuMicroseconds\":[" << rounds << "],\"operations\":" << operations
              << ",\"seconds\":" << seconds << ",\"memoryBytes\":" << peakMemory()
              << ",\"definitions\":" << definitions;
    auto allocations = reinterpret_cast<unsigned long long (*)()>(dlsym(RTLD_DEFAULT, "tocsin_bench_allocations"));
    if (allocations) {
        auto before = allocations();
        parse(nullptr);
        std::cout << ",\"allocations\":" << allocations() - before;
    }
    std::cout << "}" << std::endl;
}

int main(int count, char **arguments) {
    std::string folder = count > 1 ? arguments[1] : ".";
    std::cout << "{\"name\":\"libgraphqlparser 0.7 (C++, -O2)\"}" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::string file;
        std::string row;
        for (auto &known : std::vector<std::pair<std::string, std::string>>{
                 {"parse-operations", "large-operations.graphql"},
                 {"parse-schema", "large-schema.graphql"},
                 {"parse-query", "query.graphql"}})
            if (line.find("\"" + known.first + "\"") != std::string::npos) std::tie(row, file) = known;
        if (row.empty()) std::cout << "{\"row\":\"\",\"unsupported\":\"it parses only\"}" << std::endl;
        else measure(row, line, contents(folder + "/" + file));
    }
}
