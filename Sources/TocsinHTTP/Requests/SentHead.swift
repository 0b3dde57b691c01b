import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A request head as it was sent: the next one of the same bytes says the same, and needs no parser.
///
/// Only the digits of Content-Length may be others. Most clients that stay send the same head each time, and to parse it and
/// to compare its fields was a fifth of what a small request cost the event loop. Who the credentials stand for is asked for
/// every request all the same.
struct SentHead {
    let head: RequestHead
    let headers: HTTPHeaders
    private let bytes: [UInt8]
    /// Where the length of the body stands; nil where none was sent.
    private let digits: Range<Int>?

    /// Larger heads are not kept until the next request, so that connections that wait take little memory.
    private static let maximumBytes = 4096
    /// A longer number is the parser's to judge.
    private static let maximumDigits = 9

    /// The head of a request that was parsed, checked and taken, and the bytes that it was parsed from, with the empty line at
    /// their end; nil where one like it must go to the parser.
    init?(_ bytes: [UInt8], of request: IncomingRequest) {
        let head = request.head
        guard bytes.count <= Self.maximumBytes, head.keepsAlive, !head.isHTTP10, !head.hasChunks, !head.expectsContinue,
            !head.fields.has(.upgrade), head.method != .connect
        else { return nil }
        digits = Self.digits(in: bytes)
        guard (digits != nil) == head.fields.has(.contentLength) else { return nil }
        (self.bytes, self.head, headers) = (bytes, head, request.headers)
    }

    /// How many bytes of these are such a head, and how many after it are its body.
    func match(_ sent: ByteBuffer) -> (headBytes: Int, bodyBytes: Int)? {
        sent.withUnsafeReadableBytes { sent in
            bytes.withUnsafeBytes { known in
                guard let digits else {
                    return Self.begins(sent, with: known[...]) ? (known.count, 0) : nil
                }
                guard Self.begins(sent, with: known[..<digits.lowerBound]) else { return nil }
                var (end, length) = (digits.lowerBound, 0)
                while end < sent.count, end - digits.lowerBound < Self.maximumDigits, Self.isDigit(sent[end]) {
                    length = length * 10 + Int(sent[end] - 0x30)
                    end += 1
                }
                let rest = known[digits.upperBound...]
                guard end > digits.lowerBound, Self.begins(.init(rebasing: sent[end...]), with: rest) else {
                    return nil
                }
                return (end + rest.count, length)
            }
        }
    }

    private static func begins(_ sent: UnsafeRawBufferPointer, with known: Slice<UnsafeRawBufferPointer>) -> Bool {
        let known = UnsafeRawBufferPointer(rebasing: known)
        guard sent.count >= known.count else { return false }
        guard let left = sent.baseAddress, let right = known.baseAddress else { return known.isEmpty }
        return memcmp(left, right, known.count) == 0
    }

    /// The digits of Content-Length in a head that the parser has taken; nil when there is no such field.
    private static func digits(in head: [UInt8]) -> Range<Int>? {
        let name = "\r\ncontent-length:".utf8
        let places = head.indices.dropLast(name.count)
        guard
            let line = places.first(where: { place in
                zip(head[place...], name).allSatisfy { $0 == $1 || $0 | 0x20 == $1 && (0x41...0x5A).contains($0) }
            }),
            let first = head[(line + name.count)...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 })
        else { return nil }
        let end = head[first...].firstIndex { !isDigit($0) } ?? head.endIndex
        return first < end ? first..<end : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
