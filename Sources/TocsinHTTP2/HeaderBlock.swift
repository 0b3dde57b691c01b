import CNGHTTP2
import TocsinPush

/// The header lines all requests of a batch share, encoded to bytes once.
///
/// libnghttp2 reads them in place until a request's HEADERS are sent, so the block lives as long as
/// its `BatchRun`, which every open stream holds.
final class HeaderBlock {
    /// `:method`, `:scheme`, `:authority`, room for `:path`, then the shared headers.
    let lines: [nghttp2_nv]
    /// Where in `lines` the path goes.
    static let pathIndex = 3
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ origin: Origin, _ shared: [PushHeader]) {
        let first = [
            PushHeader(":method", "POST", repeats: true),
            PushHeader(":scheme", origin.isSecure ? "https" : "http", repeats: true),
            PushHeader(":authority", origin.authority, repeats: true),
            PushHeader(":path", "/"),
        ]
        let headers = first + shared
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
        _ = text.initialize(from: headers.lazy.flatMap { [$0.name.utf8, $0.value.utf8].joined() })
        var cursor = text.baseAddress
        lines = headers.map { header in
            let name = cursor
            let value = cursor?.advanced(by: header.name.utf8.count)
            cursor = value?.advanced(by: header.value.utf8.count)
            return nghttp2_nv(
                name: name,
                value: value,
                namelen: header.name.utf8.count,
                valuelen: header.value.utf8.count,
                flags: Self.inPlace | Self.indexing(header)
            )
        }
        self.text = text
    }

    deinit {
        text.deallocate()
    }

    private static let inPlace = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)

    /// What repeats may enter the peer's table; what does not is marked never to be indexed (RFC
    /// 7541 §6.2.3), so that it does not fill that small table.
    static func indexing(_ header: PushHeader) -> UInt8 {
        header.repeats || header.name.hasPrefix(":")
            ? UInt8(NGHTTP2_NV_FLAG_NONE.rawValue) : UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    }
}

/// Joins a block with one request's own lines; keeps its memory from request to request.
struct RequestLines {
    private var text: [UInt8] = []
    private var lines: [nghttp2_nv] = []
    /// The block `lines` begins with.
    private var block: HeaderBlock?

    /// Calls `submit` with all lines of a request; libnghttp2 copies what is not in the block.
    mutating func withLines<Result>(
        _ block: HeaderBlock,
        _ request: PushBatch.Request,
        _ submit: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        text.removeAll(keepingCapacity: true)
        text.append(contentsOf: request.path.utf8)
        for header in request.headers {
            text.append(contentsOf: header.name.utf8)
            text.append(contentsOf: header.value.utf8)
        }
        if block === self.block {
            lines.removeLast(lines.count - block.lines.count)
        } else {
            (self.block, lines) = (block, block.lines)
        }
        return text.withUnsafeMutableBufferPointer { text in
            var cursor = text.baseAddress
            lines[HeaderBlock.pathIndex].value = cursor
            lines[HeaderBlock.pathIndex].valuelen = request.path.utf8.count
            lines[HeaderBlock.pathIndex].flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
            cursor = cursor?.advanced(by: request.path.utf8.count)
            for header in request.headers {
                let value = cursor?.advanced(by: header.name.utf8.count)
                lines.append(
                    nghttp2_nv(
                        name: cursor,
                        value: value,
                        namelen: header.name.utf8.count,
                        valuelen: header.value.utf8.count,
                        flags: HeaderBlock.indexing(header)
                    )
                )
                cursor = value?.advanced(by: header.value.utf8.count)
            }
            return lines.withUnsafeBufferPointer(submit)
        }
    }
}
