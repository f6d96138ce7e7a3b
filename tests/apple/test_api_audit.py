"""Software Metal's headers say what Apple's say, and the runtime uses only what macOS 14 has."""

import shutil
import subprocess
import sys
from pathlib import Path

import api_facts
import pytest
from api_audit import declaration_problems, use_problems
from objc_source import DECLARATIONS, FLAGS, ROOT, RUNTIME, SourceError, declarations, uses

CHECKER = "clang-analyzer-osx.cocoa.RetainCount"


def retain_count_problems(*sources):
    """Of clang's static analyzer, which knows Cocoa's rules of ownership."""
    command = [Path(sys.executable).parent / "clang-tidy", "--quiet", f"-checks=-*,{CHECKER}", *map(str, sources)]
    command += ["--", *FLAGS, f"-I{DECLARATIONS}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if CHECKER in line]


@pytest.fixture(scope="module")
def declared():
    return declarations()


def test_headers_agree_with_apples(declared):
    assert len(declared) > 200
    assert declaration_problems(declared) == []


def test_every_header_is_read(declared):
    seen = {one.place.split(":")[0] for one in declared}
    headers = {str(path.relative_to(ROOT)) for path in DECLARATIONS.rglob("*.h")}
    only_include = {f"native/softmetal/include/{name}" for name in ("Foundation/Foundation.h", "Metal/Metal.h")}
    assert headers - seen == only_include


@pytest.mark.parametrize("source", RUNTIME, ids=lambda path: path.name)
def test_runtime_uses_what_macos_14_has(source):
    assert use_problems(uses(source)) == []


def test_runtime_releases_what_it_owns():
    assert retain_count_problems(*RUNTIME) == []


def test_what_is_stated_is_needed(declared):
    """Nothing that the facts hold by now, and nothing that no header declares."""
    facts = api_facts.FACTS
    methods = {(one.owner, one.name) for one in declared if one.kind == "method"}
    held = {(owner, name) for owner, fact in facts["owners"].items() for name in fact["members"]}
    assert api_facts.STATED_METHODS.keys() <= methods - held
    named = {one.name for one in declared}
    assert api_facts.STATED_TYPES.keys() <= named - facts["enums"].keys()
    assert api_facts.STATED_CONSTANTS.keys() <= named - facts["constants"].keys()
    assert api_facts.OWN_CLASSES.keys() <= named - facts["owners"].keys()


WRONG_DECLARATIONS = [
    ("MTLBuffer.h", "- (NSUInteger)length;", "- (NSUInteger)size;", "MTLBuffer -size: no method"),
    ("MTLBuffer.h", "- (NSUInteger)length;", "+ (NSUInteger)length;", "MTLBuffer +length: no method"),
    ("MTLBuffer.h", "- (NSUInteger)length;", "- (NSInteger)length;", "returns NSInteger, Apple's NSUInteger"),
    ("MTLBuffer.h", "- (NSUInteger)length;", "- (NSInteger)length;", "is encoded q@:, Apple's Q@:"),
    ("MTLBuffer.h", "@protocol MTLBuffer <", "@protocol MTLBufer <", "MTLBufer: no protocol"),
    ("MTLBuffer.h", "<MTLResource>", "<MTLResource, MTLDevice>", "adopts MTLDevice"),
    ("MTLCommandEncoder.h", "MTLBarrierScopeBuffers = 1", "MTLBarrierScopeBuffers = 2", "is 2, Apple's 1"),
    (
        "MTLCommandEncoder.h",
        "MTLBarrierScopeBuffers",
        "MTLBarrierScopeBuffer",
        "MTLBarrierScopeBuffer: no enum constant",
    ),
    ("MTLCommandEncoder.h", "typedef NSUInteger", "typedef NSInteger", "stands for NSInteger, Apple's for NSUInteger"),
    ("MTLComputeCommandEncoder.h", "atIndex:(NSUInteger)", "atIndex:(uint32_t)", "'uint32_t'"),
    ("MTLComputeCommandEncoder.h", "setBytes:(const void *)", "setBytes:(void *)", "takes ['void *'"),
    ("MTLComputeCommandEncoder.h", "@end", "- (id)newThing;\n@end", "-newThing: no method"),
    (
        "MTLDevice.h",
        "(void) NS_RETURNS_RETAINED;\nNSA",
        "(void);\nNSA",
        "Device: the caller does not release the result",
    ),
    ("MTLDevice.h", "NSArray *MTLCopyAllDevices", "NSString *MTLCopyAllDevices", "returns NSString *"),
    ("MTLDevice.h", "MTLCopyAllDevices", "MTLGetAllDevices", "MTLGetAllDevices: no function"),
    ("MTLCommandQueue.h", "commandBuffer;", "commandBuffer NS_RETURNS_RETAINED;", "the caller releases the result"),
    ("MTLTypes.h", "width, height, depth;", "width, depth, height;", "holds ['NSUInteger width', 'NSUInteger depth'"),
    ("MTLTypes.h", "MTLSize;", "MTLSize;\ntypedef struct { int x; } MTLPoint;", "MTLPoint: no struct"),
    ("MTLTypes.h", "MTLSize;", "MTLSize;\ntypedef int MTLNumber;", "MTLNumber: no type"),
    ("MTLTypes.h", "#endif", "@interface NSObject (More)\n@end\n#endif", "a category, which nothing audits"),
    ("MTLLibrary.h", "MTLLibraryErrorDomain;", "MTLLibraryDomain;", "MTLLibraryDomain: no constant"),
    ("MTLLibrary.h", "NSErrorDomain const", "NSString *const", "is a NSString *const, Apple's a const NSErrorDomain"),
    ("MTLLibrary.h", "MTLCompileOptions : NSObject", "MTLCompileOptions : NSString", "adopts NSString"),
    ("MTLLibrary.h", "typedef NSUInteger MTLLibraryError;", "", "MTLLibraryError: has constants, but is no type"),
    ("MTLEvent.h", "@protocol MTLEvent <NSObject>", "@interface MTLEvent : NSObject", "is a class, Apple's a protocol"),
]


@pytest.mark.parametrize(("header", "right", "wrong", "said"), WRONG_DECLARATIONS)
def test_a_wrong_declaration_is_caught(tmp_path, header, right, wrong, said):
    folder = shutil.copytree(DECLARATIONS, tmp_path / "include")
    path = folder / "Metal" / header
    text = path.read_text()
    assert right in text
    text = text.replace(right, wrong, 1)
    if header == "MTLEvent.h":  # a class can be no protocol's base
        text = text.replace("@protocol MTLSharedEvent <MTLEvent>", "@protocol MTLSharedEvent <NSObject>")
    path.write_text(text)
    problems = declaration_problems(declarations(folder))
    assert [problem for problem in problems if said in problem], problems


NEWER = """#import <Metal/Metal.h>
typedef NSInteger MTLMathMode;
@interface MTLCompileOptions (Newer)
- (void)setMathMode:(MTLMathMode)mode;
- (void)setMadeUp:(MTLMathMode)mode;
@end
@interface MTLResidencySetDescriptor : NSObject
@end
void use(id<MTLDevice> device, MTLCompileOptions *options, bool fast);
void use(id<MTLDevice> device, MTLCompileOptions *options, bool fast) {
  (void)device, (void)options, (void)fast;
"""
SET = "[options setMathMode:0];"
ASK = "[options respondsToSelector:@selector(setMathMode:)]"
ASK_OTHER = "[options respondsToSelector:@selector(setLanguageVersion:)]"
NO_COPY = "[[device newBufferWithBytesNoCopy:0 length:1 options:0 deallocator:%s] release];"
USES = [
    (SET, "MTLCompileOptions -setMathMode:: came with macOS 15.0"),
    (f"if ({ASK}) {SET}", None),
    (f"if (fast && {ASK}) {{ if (fast) {SET} }}", None),
    (f"if (!{ASK}) {SET}", "came with macOS 15.0"),
    (f"if (fast || {ASK}) {SET}", "came with macOS 15.0"),
    (f"if ({ASK}) {{ }} else {SET}", "came with macOS 15.0"),
    (f"if ({ASK}) {{ }} {SET}", "came with macOS 15.0"),
    (f"if ({ASK_OTHER}) {SET}", "came with macOS 15.0"),
    ("[options setMadeUp:0];", "-setMadeUp:: no method"),
    ("if ([options respondsToSelector:@selector(setMathMod:)]) fast = true;", "setMathMod:: no selector"),
    ("[[[MTLResidencySetDescriptor alloc] init] release];", "MTLResidencySetDescriptor: came with macOS 15.0"),
    ("[options setLanguageVersion:MTLLanguageVersion3_2];", "MTLLanguageVersion3_2: came with macOS 15.0"),
    (f"if ({ASK}) [options setLanguageVersion:MTLLanguageVersion3_2];", None),
    (NO_COPY % "(void *)device", "(void *)device where Apple's takes a block"),
    (NO_COPY % "nil", None),
]


@pytest.mark.parametrize(("statement", "said"), USES)
def test_a_use_that_macos_14_lacks_is_caught(tmp_path, statement, said):
    source = tmp_path / "use.m"
    source.write_text(f"{NEWER}  {statement}\n}}\n")
    problems = use_problems(uses(source))
    assert len(problems) == (said is not None), problems
    assert all(said in problem for problem in problems)


BROKEN = ["[device madeUp];", "id any = device; [any madeUp];", "int unused;", "[device newQueue];", "return 1"]


@pytest.mark.parametrize("statement", BROKEN)
def test_what_clang_warns_of_is_an_error(tmp_path, statement):
    source = tmp_path / "use.m"
    source.write_text(f"{NEWER}  {statement}\n}}\n")
    with pytest.raises(SourceError):
        uses(source)


OWNERSHIP = [
    ("id<MTLBuffer> b = [device newBufferWithLength:16 options:0]; return [b length];", True),
    ("id<MTLBuffer> b = [device newBufferWithLength:16 options:0]; [b release]; return 0;", False),
    ("id<MTLCommandBuffer> b = [queue commandBuffer]; [b commit]; [b release]; return 0;", True),
    ("id<MTLCommandBuffer> b = [queue commandBuffer]; [b commit]; return 0;", False),
    ("id<MTLDevice> d = MTLCreateSystemDefaultDevice(); return [d maxBufferLength];", True),
    ("id<MTLDevice> d = MTLCreateSystemDefaultDevice(); [d release]; return 0;", False),
]


@pytest.mark.parametrize(("body", "wrong"), OWNERSHIP)
def test_wrong_ownership_is_caught(tmp_path, body, wrong):
    source = tmp_path / "owns.m"
    signature = "NSUInteger use(id<MTLDevice> device, id<MTLCommandQueue> queue)"
    source.write_text(f"#import <Metal/Metal.h>\n{signature};\n{signature} {{ {body} }}\n")
    assert len(retain_count_problems(source)) == wrong
