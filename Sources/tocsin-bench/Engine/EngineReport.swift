import Foundation
import JSON

/// Prints rows, keeps what the last lines need, and holds the answers against each other.
struct EngineReport {
    let documents: EngineDocuments
    /// Where a peer's answer differs from ours in a row that must agree.
    private(set) var disagreements: [String] = []
    private(set) var measured: [EngineRow: MeasuredRow] = [:]

    init(documents: EngineDocuments) {
        self.documents = documents
    }

    static func head(_ pace: MeasurementRequest.Pace, programs: [String]) -> String {
        String(
            format:
                "# engine: medians of %d rounds of %.2f s of CPU after %.2f of warm-up; CPU is user and system time "
                + "of the process measured, memory its highest",
            pace.rounds,
            pace.roundSeconds,
            pace.warmUpSeconds
        ) + "\n# " + programs.joined(separator: ", ")
    }

    /// The lines of a row: ours, floors, peers, agreement, target.
    mutating func printed(_ row: EngineRow, _ figures: MeasuredRow) throws -> String {
        measured[row] = figures
        let bytes = try row.document.map { try documents.bytes($0).count }
        let size = bytes.map { String(format: " (%.2f MB)", Double($0) / 1_000_000) } ?? ""
        var lines = ["", row.title + size, line("Tocsin", figures.ours, bytes, nil)]
        for (floor, floorFigures) in figures.floors {
            lines.append(line(floor.title, floorFigures, bytes, figures.ours, isFloor: true))
        }
        for (name, peer) in figures.peers { lines.append(line(name, peer, bytes, figures.ours)) }
        for (name, reason) in figures.absent { lines.append("  \(name): not measured (\(reason))") }
        lines += try agreement(row, figures)
        if let target = row.target { lines.append("  " + verdict(target, figures, bytes)) }
        return lines.joined(separator: "\n")
    }

    private func line(
        _ name: String,
        _ figures: Measurement,
        _ bytes: Int?,
        _ ours: Measurement?,
        isFloor: Bool = false
    ) -> String {
        let cpu = figures.medianMicroseconds
        var text = "  " + padded(name, 62) + leading(String(format: "%.2f µs CPU", cpu), 18)
        text += leading(bytes.map { String(format: "%.1f MB/s", Double($0) / cpu) } ?? "", 14)
        text += leading(String(format: "%.0f/s", figures.perSecond), 13)
        text += leading(String(format: "%.1f MB", Double(figures.memoryBytes) / 1_048_576), 11)
        text += leading(figures.allocations.map { String(format: "%.2f allocations", $0) } ?? "", 24)
        if let ours {
            let ratio = isFloor ? ours.medianMicroseconds / cpu : cpu / ours.medianMicroseconds
            text += String(format: isFloor ? "   ours is %.2f times this" : "   %.2f times ours", ratio)
        }
        if figures.spread > 0.25 { text += String(format: "   (rounds %.0f %% apart)", figures.spread * 100) }
        return text
    }

    /// Whether all found the same definitions or gave the same bytes.
    private mutating func agreement(_ row: EngineRow, _ figures: MeasuredRow) throws -> [String] {
        var lines: [String] = []
        if let definitions = figures.ours.definitions {
            let others = figures.peers.filter { $0.figures.definitions != definitions }.map(\.name)
            if others.isEmpty { lines.append("  all find \(definitions) definitions") }
            disagreements += others.map { "\($0) finds another number of definitions in \(row.rawValue)" }
        }
        guard let own = figures.ours.answer else { return lines }
        let bytes = try documents.bytes(own)
        var agreeing: [String] = []
        for (name, peer) in figures.peers {
            if let answer = peer.answer, try documents.bytes(answer) == bytes {
                agreeing.append(name)
            } else if row == .introspection {
                lines.append("  " + (try introspectionAgreement(bytes, name, peer)))
            } else {
                disagreements.append("\(name) answers \(row.rawValue) with other bytes")
            }
        }
        if !agreeing.isEmpty {
            lines.append("  the same \(bytes.count) bytes from \(agreeing.joined(separator: ", "))")
        }
        return lines
    }

    /// Peers list types in an order of their own and implement other editions of the built-in ones,
    /// so only the schema's own types must be equal.
    private mutating func introspectionAgreement(_ own: [UInt8], _ name: String, _ peer: Measurement) throws -> String {
        func types(_ bytes: [UInt8]) throws -> [String: JSONValue] {
            let all = try JSONParser.parse(bytes)["data"]?["__schema"]?["types"]?.arrayValue ?? []
            let named = all.map { ($0["name"]?.stringValue ?? "", $0) }
            return Dictionary(named.filter { !$0.0.hasPrefix("__") && $0.0 != "Float" }) { first, _ in first }
        }
        let (ours, theirs) = (try types(own), try types(peer.answer.map(documents.bytes) ?? []))
        guard ours == theirs else {
            disagreements.append("\(name) answers the introspection query with other types")
            return "\(name) describes other types"
        }
        return "\(name) describes the schema's own \(ours.count) types alike, in another order"
    }

    private func verdict(_ target: EngineRow.Target, _ figures: MeasuredRow, _ bytes: Int?) -> String {
        let cpu = figures.ours.medianMicroseconds
        switch target {
        case .megabytesPerSecond(let wanted):
            let reached = Double(bytes ?? 0) / cpu
            return String(format: "target %.0f MB/s: %.1f, ", wanted, reached) + word(reached >= wanted)
        case .microseconds(let wanted):
            return String(format: "target %.0f µs: %.2f, ", wanted, cpu) + word(cpu <= wanted)
        case .microsecondsBeyond(let wanted, let floor):
            let source = figures.floors.first { $0.floor == floor }?.figures.medianMicroseconds ?? 0
            return String(format: "target %.0f µs beyond the source of rows: %.2f, ", wanted, cpu - source)
                + word(cpu - source <= wanted)
        }
    }

    private func word(_ isReached: Bool) -> String { isReached ? "reached" : "not reached" }

    /// Calls for memory of each further row, from 20 to 200 of them: the engine's, and
    /// those of the source alone.
    func rowsWithoutAllocations() -> String {
        func perRow(_ few: Measurement?, _ many: Measurement?) -> Double? {
            guard let few = few?.allocations, let many = many?.allocations else { return nil }
            return (many - few) / 180
        }
        func floor(_ row: EngineRow, _ floor: EngineFloor) -> Measurement? {
            measured[row]?.floors.first { $0.floor == floor }?.figures
        }
        guard let all = perRow(measured[.execute20]?.ours, measured[.execute200]?.ours),
            let source = perRow(floor(.execute20, .source20), floor(.execute200, .source200))
        else { return "\nallocations a row: not counted" }
        return String(
            format: "\nallocations a row, from 20 to 200 rows: %.3f, of which the source of rows %.3f; beyond it %.3f\n"
                + "  target none beyond the source: ",
            all,
            source,
            all - source
        ) + word(all - source < 0.05)
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private func leading(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
