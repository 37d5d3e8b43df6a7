/* A libFuzzer program around one target: each input goes to run(data) of tests/fuzz/targets/$FUZZ_TARGET.py.
 *
 * Python runs inside it, and the core that Python imports is compiled with coverage and sanitizers: their
 * runtime is this program's. An exception that leaves run() is a finding, as a crash is. What is Python
 * itself is covered line by line where the target says `IN_PYTHON = True`. ci/fuzz builds and starts it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>

enum { ARCS = 1 << 16 };

/* libFuzzer looks for new values in this section as in the counters that the compiler puts in. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t arcs[ARCS];
static PyObject *run;

/* Count each step from one line to the next; a code object's address tells the function. */
static int trace(PyObject *self, PyFrameObject *frame, int what, PyObject *argument) {
    static uintptr_t before;
    PyCodeObject *code = PyFrame_GetCode(frame);
    uintptr_t here = ((uintptr_t)code >> 4) * 31 + (uintptr_t)PyFrame_GetLineNumber(frame) * 0x9E37 + (uintptr_t)what;
    Py_DECREF(code);
    arcs[(here ^ before) % ARCS]++;
    before = here >> 1;
    return 0;
}

static void must(int fine) {
    if (!fine) {
        PyErr_Print();
        abort();
    }
}

static void start_python(void) {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0; /* libFuzzer has its own. */
    /* As that interpreter, so that its environment's packages are found. */
    must(!PyStatus_Exception(PyConfig_SetBytesString(&config, &config.program_name, getenv("FUZZ_PYTHON"))));
    must(!PyStatus_Exception(Py_InitializeFromConfig(&config)));
    PyConfig_Clear(&config);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    char name[128];
    PyObject *target, *in_python;
    snprintf(name, sizeof name, "tests.fuzz.targets.%s", getenv("FUZZ_TARGET"));
    start_python();
    target = PyImport_ImportModule(name);
    must(target != NULL);
    run = PyObject_GetAttrString(target, "run");
    must(run != NULL);
    in_python = PyObject_GetAttrString(target, "IN_PYTHON");
    must(in_python != NULL);
    must(PyRun_SimpleString("import gc; gc.collect(); gc.freeze()") == 0);
    if (PyObject_IsTrue(in_python))
        PyEval_SetTrace(trace, NULL);
    return 0;
}

/* The input as a bytes object in memory of its own, where one byte too many is noticed: not among Python's
 * small objects, and without the zero that Python puts behind it. */
static PyObject *guarded_bytes(const uint8_t *data, size_t size) {
    PyMemAllocatorEx small, raw;
    PyObject *bytes;
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &small);
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &raw);
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &raw);
    bytes = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &small);
    must(bytes != NULL);
    ASAN_POISON_MEMORY_REGION(PyBytes_AS_STRING(bytes) + size, 1);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PyObject *input = guarded_bytes(data, size);
    PyObject *result = PyObject_CallOneArg(run, input);
    must(result != NULL);
    Py_DECREF(result);
    Py_DECREF(input);
    return 0;
}
