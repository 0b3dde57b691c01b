import JSON
import Testing

@Suite("Capacity", .timeLimit(.minutes(5)))
struct CapacityTests {
    @Test("twice the messages need twice the cores and the disk, and the same memory")
    func twice() async throws {
        let one = try await needs(["--creates", "100"])
        let two = try await needs(["--creates", "200"])
        for name in ["cores", "diskBytes", "pushesPerMinute"] {
            let ratio = try #require(two[name]?.doubleValue) / #require(one[name]?.doubleValue)
            #expect(abs(ratio - 2) < 0.001, "\(name)")
        }
        #expect(one["memoryBytes"] == two["memoryBytes"])
    }

    @Test(
        "a number that makes no sense is refused with the numbers that do",
        arguments: ["--creates=-1", "--creates=nan", "--sockets=99999999999", "--bytes=-5"]
    )
    func nonsense(_ argument: String) async throws {
        let result = try await capacity([argument])
        #expect(result.status == 2)
        #expect(result.errors.contains("Write a number from 0 to"), "\(result.errors)")
    }

    @Test("what does not fit one SQLite file, the open files or Firebase's quota is said")
    func remarks() async throws {
        let result = try await capacity(["--creates", "20000", "--sockets", "5000", "--members", "20"])
        for word in ["PostgreSQL", "TOCSIN_CONNECTIONS", "Firebase"] { #expect(result.output.contains(word)) }
    }

    private func needs(_ arguments: [String]) async throws -> JSONValue {
        let result = try await capacity(["--json"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return try JSONParser.parse(result.output)
    }

    private func capacity(
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(["capacity"] + arguments, folder: "/")
    }
}
