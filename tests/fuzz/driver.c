/* A libFuzzer program that passes each input to run(data) in tests/fuzz/targets/$FUZZ_TARGET.py.
 *
 * The program contains a Python interpreter, and the runtime for the coverage and the sanitizers with which
 * the core is compiled. A crash is a finding, and so is an exception that escapes run(). If a target sets
 * `IN_PYTHON = True`, its Python code is also covered, line by line. ci/fuzz builds and starts the program. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>

enum { ARCS = 1 << 16 };

/* libFuzzer looks for new values in this section, as it does in the counters that the compiler inserts. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t arcs[ARCS];
static PyObject *run;

/* Count each step from one line to the next. The code object's address identifies the function. */
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
    /* The name of that interpreter makes Python find the packages in its environment. */
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

/* Return the input as a bytes object in its own memory block, so that the sanitizer detects a read past its
 * end. The block is not among Python's small objects, and the zero that Python appends is unreadable. */
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
